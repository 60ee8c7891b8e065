//! One suite of tests for everything that is a [`Log`], [`Blobs`] and [`Keys`]: in memory, in a file, in NATS, and each over a link.

mod all;

use gambeson_slim::Name;
use gambeson_slim::delivery::{Client, Patience, Rules, serve};
use gambeson_slim::engine::{Engine, Limits};
use gambeson_slim::faults::{Faults, Faulty};
use gambeson_slim::memory::{Hub, MemoryService};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The tests of the suite, each with an engine of its own. The word before `=>` is the module's name, the closure makes the engine.
macro_rules! runs_on {
    ($name:ident, $runtime:meta, $engine:expr) => {
        mod $name {
            use super::*;
            runs_on!(@each $runtime, $engine;
                a_log_is_empty_before_the_first_entry
                commits_follow_one_another
                other_entries_come_whenever_they_come
                a_repeated_append_is_found_by_its_id
                what_comes_under_the_id_of_another_entry_is_refused
                a_repeated_commit_has_won_when_it_stands
                an_id_belongs_to_its_channel
                channels_know_nothing_of_each_other
                of_eight_that_commit_at_once_exactly_one_wins
                entries_that_come_at_once_stand_in_one_order
                pages_begin_where_they_are_asked_to_and_end_at_the_limit
                a_page_has_what_fits_and_at_least_one_record
                pruning_forgets_entries_but_no_head_and_no_id
                pruning_everything_keeps_the_places
                what_stands_in_another_channel_is_no_gap_in_this_one
                an_entry_has_a_largest_size
                entries_have_a_time
                a_blob_is_found_by_its_hash
                a_blob_has_a_largest_size
                of_many_blobs_those_that_are_kept_are_told
                many_blobs_come_in_their_order_also_if_one_frame_does_not_hold_them
                a_key_package_is_given_out_once
                of_many_that_take_at_once_none_gets_what_another_got
                a_last_resort_is_given_out_when_nothing_else_is_left
                a_new_last_resort_replaces_the_old
                a_package_is_not_added_twice_even_after_it_was_given_out
                a_did_has_only_so_many_key_packages
                a_key_package_has_a_largest_size
                dids_know_nothing_of_each_other
            );
        }
    };
    (@each $runtime:meta, $engine:expr; $($test:ident)*) => {
        $(
            #[$runtime]
            async fn $test() {
                let Some(kept) = $engine.await else { return };
                all::$test(kept.engine()).await;
            }
        )*
    };
}

/// The tests of the suite that need a small engine, which takes some hundreds of entries of 1 KiB.
macro_rules! runs_on_small {
    ($name:ident, $runtime:meta, $engine:expr) => {
        mod $name {
            use super::*;
            runs_on!(@each $runtime, $engine;
                a_log_goes_on_for_ever_behind_checkpoints_and_keeps_all_since_the_newest
                a_full_log_has_room_for_a_checkpoint_and_then_for_everything
            );
        }
    };
}

/// The test of the suite that needs an engine which forgets blobs soon.
#[cfg(any(feature = "redb", feature = "nats"))]
macro_rules! runs_on_forgetful {
    ($name:ident, $runtime:meta, $engine:expr) => {
        mod $name {
            use super::*;
            runs_on!(@each $runtime, $engine;
                a_blob_goes_that_nobody_puts_or_asks_for_and_can_be_put_again
            );
        }
    };
}

/// An engine, and what must live as long.
struct Kept {
    engine: Arc<dyn Engine>,
    _with: Box<dyn Any>,
}

impl Kept {
    fn alone(engine: impl Engine + 'static) -> Self {
        Self::with(engine, ())
    }

    fn with(engine: impl Engine + 'static, with: impl Any) -> Self {
        Self { engine: Arc::new(engine), _with: Box::new(with) }
    }

    fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.engine)
    }
}

/// The engine behind a service, and a client as the engine. Each side's link has these faults.
async fn over_a_link(engine: Arc<dyn Engine>, seed: u64, faults: Faults) -> Kept {
    let (hub, name) = (Hub::new(), Name::new("acme", "channels", "delivery"));
    let rules = Rules { prune: true, ..Rules::default() };
    let server = serve(Faulty::new(hub.link(), seed, faults), name.clone(), engine, rules).await.unwrap();
    let patience = Patience { deadline: Duration::from_secs(60), repeat: Duration::from_millis(200) };
    let client = Client::new(Faulty::new(hub.link(), seed + 1, faults), name, patience).await.unwrap();
    Kept::with(client, server)
}

const BAD: Faults = Faults {
    loss: 0.1,
    repeated: 0.2,
    soonest: Duration::from_millis(1),
    latest: Duration::from_millis(120),
};

runs_on!(memory, tokio::test, async { Some(Kept::alone(MemoryService::new())) });
runs_on!(memory_over_a_link, tokio::test(start_paused = true), async {
    Some(over_a_link(Arc::new(MemoryService::new()), 0, Faults::NONE).await)
});
runs_on!(memory_over_a_bad_link, tokio::test(start_paused = true), async {
    Some(over_a_link(Arc::new(MemoryService::new()), 20, BAD).await)
});
runs_on!(memory_over_another_bad_link, tokio::test(start_paused = true), async {
    Some(over_a_link(Arc::new(MemoryService::new()), 30, BAD).await)
});

const FEW: Limits = Limits { channels: 10, entries: 300, bytes: 1 << 24, dids: 10, store: 1 << 25 };

runs_on_small!(small_memory, tokio::test, async { Some(Kept::alone(MemoryService::with(FEW))) });
runs_on_small!(small_memory_over_a_link, tokio::test(start_paused = true), async {
    Some(over_a_link(Arc::new(MemoryService::with(FEW)), 60, Faults::NONE).await)
});
runs_on_small!(memory_of_few_bytes, tokio::test, async {
    Some(Kept::alone(MemoryService::with(Limits { entries: 10_000, bytes: 300_000, ..FEW })))
});

#[cfg(feature = "redb")]
mod files {
    use super::*;
    use gambeson_slim::engine::{File, Retention};
    use tempfile::TempDir;

    fn file() -> (File, TempDir) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("delivery");
        (File::open(path, Limits::default(), Retention::default()).unwrap(), folder)
    }

    runs_on!(file, tokio::test, async {
        let (file, folder) = file();
        Some(Kept::with(file, folder))
    });
    fn small(limits: Limits) -> Kept {
        let folder = TempDir::new().unwrap();
        let file = File::open(folder.path().join("delivery"), limits, Retention::default()).unwrap();
        Kept::with(file, folder)
    }

    runs_on_small!(small_file, tokio::test, async { Some(small(FEW)) });
    runs_on_small!(file_of_few_bytes, tokio::test, async {
        Some(small(Limits { entries: 10_000, bytes: 300_000, ..FEW }))
    });
    runs_on_forgetful!(forgetful_file, tokio::test, async {
        let folder = TempDir::new().unwrap();
        let file = File::open(folder.path().join("delivery"), Limits::default(), all::SOON).unwrap();
        let engine = Arc::new(file);
        let sweeps = Arc::clone(&engine);
        // By itself it sweeps once a minute.
        tokio::spawn(async move {
            loop {
                sweeps.tidy().await.unwrap();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Some(Kept { engine, _with: Box::new(folder) })
    });
    runs_on!(file_over_a_link, tokio::test(flavor = "multi_thread", worker_threads = 2), async {
        let (file, folder) = file();
        let kept =
            over_a_link(Arc::new(file), 40, Faults { loss: 0.0, latest: Duration::from_millis(5), ..BAD })
                .await;
        Some(Kept { _with: Box::new((kept._with, folder)), ..kept })
    });
}

#[cfg(feature = "nats")]
mod nats;
