//! A small channel in virtual time.

use gambeson_mls::Suite;
use gambeson_slim::sim::{Mark, Options, Report, Rhythm, run};

#[test]
fn all_whole_members_agree_in_every_epoch_though_some_come_go_and_fall_silent() {
    let options = Options {
        members: 40,
        full: 8,
        minutes: 12,
        churn: 0.2,
        away: 0.2,
        partition: 0.5,
        ..Options::default()
    };
    let mut told = 0;
    let report = run(&options, Suite::by_number(1).unwrap(), &mut |_| told += 1).unwrap();
    let figure = |name: &str| report.figures.iter().find(|figure| figure.name == name).unwrap();
    assert_eq!(figure("whole members in one epoch at the end").value, 8.0);
    assert!(figure("times that a member agreed").value > 150.0);
    assert!(figure("absences").value >= 2.0);
    assert!(figure("partitions").value >= 2.0);
    assert_eq!(figure("bytes in, GB all members and hour").mark, Mark::Multiplied);
    let sample = |name: &str| report.samples.get(name).map_or(0, |sample| sample.count());
    for name in [
        "commit (add and remove): make, CPU ms",
        "commit (add and remove): process, CPU ms",
        "new epoch: put it away, CPU ms",
        "join: from the order to the group, s",
        "message: receive, CPU ms",
        "agree, who was away or joins, s",
    ] {
        assert!(sample(name) > 0, "no {name}: {report}");
    }
    assert!(told >= 12);
    let folder = tempfile::tempdir().unwrap();
    let files = Report::write(&[report.clone(), report], "gambeson sim", folder.path()).unwrap();
    assert_eq!(files, ["sim-40.md", "sim-40.svg"]);
    let [page, picture] = [0, 1].map(|at| std::fs::read_to_string(folder.path().join(&files[at])).unwrap());
    // A row has a mark, four columns for each suite, and the ratio of their halves.
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| join, CPU ms | measured |")).collect();
    assert_eq!(rows.len(), 1);
    assert!(rows[0].matches('|').count() == 12 && rows[0].ends_with(" 1.00 |"), "{}", rows[0]);
    let marked = |line: &&str| {
        !line.starts_with("| ") || line.contains(" measured |") || line.contains(" multiplied |")
    };
    assert!(
        page.lines()
            .filter(|line| !line.starts_with("| |") && !line.starts_with("| ---"))
            .all(|line| marked(&line)),
        "{page}"
    );
    assert!(picture.contains("<svg") && picture.contains("join, CPU ms (measured)"));
    assert!(picture.contains("bytes in, GB all members and hour (multiplied)"));
}

#[test]
fn members_that_come_in_bursts_are_taken_too() {
    let options = Options { members: 30, full: 4, minutes: 11, rhythm: Rhythm::Bursts, ..Options::default() };
    run(&options, Suite::by_number(0xf00a).unwrap(), &mut |_| {}).unwrap();
    let none = Options { full: 3, ..options };
    assert!(run(&none, Suite::by_number(1).unwrap(), &mut |_| {}).is_err());
}
