//! What holds for every delegation: a child that is not within its parent is refused, and what a child permits its
//! parent permits.

use crate::world::NOW;
use gambeson_identity::{
    Agent, MasterSeed, Reason,
    action::{Action, Call},
    delegation::{Amount, Capability, Caveat, Delegation, Test},
};
use serde_json::{Map, Value, json};

/// SplitMix64: the same cases in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    fn one<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(3) > 0).then(|| make(self))
    }
}

const ACTIONS: [&str; 8] = ["a", "a/*", "a/b", "a/b/*", "a/b/c", "a/b/c/*", "a/d", "e/*"];
const RESOURCES: [&str; 4] = ["r", "r/*", "r/s", "r/s/*"];
const POINTERS: [&str; 2] = ["/x", "/y/0"];
const VALUES: [&str; 9] =
    ["1", "2.5", "4", "\"ab\"", "\"abc\"", "\"/a/b\"", "\"/ab\"", "\"/a/../b\"", "\"s://a/b\""];

fn value(random: &mut Random) -> Value {
    let text: &&str = random.one(&VALUES);
    serde_json::from_str(text).unwrap()
}

fn caveat(random: &mut Random) -> Caveat {
    let number = |random: &mut Random| random.below(6).into();
    let test = match random.below(4) {
        0 => Test::AtMost(number(random)),
        1 => Test::AtLeast(number(random)),
        2 => Test::Prefix(
            (*random.one(&["", "a", "ab", "abc", "/", "/a", "/a/", "/ab", "s", "s://", "s://a"])).to_owned(),
        ),
        _ => Test::OneOf((0..=random.below(3)).map(|_| value(random)).collect()),
    };
    Caveat::Argument((*random.one(&POINTERS)).to_owned(), test)
}

fn capability(random: &mut Random) -> Capability {
    Capability {
        action: random.one(&ACTIONS).parse().unwrap(),
        resource: random.one(&RESOURCES).parse().unwrap(),
        caveats: (0..random.below(3)).map(|_| caveat(random)).collect(),
    }
}

fn delegation(random: &mut Random, delegate: &Agent) -> Delegation {
    let from = NOW.after(random.below(3));
    Delegation {
        delegate: delegate.did().clone(),
        from,
        until: from.after(10 + random.below(3)),
        capabilities: (0..=random.below(3)).map(|_| capability(random)).collect(),
        max_depth: u8::try_from(random.below(4)).unwrap(),
        max_calls: random.some(|it| it.below(4)),
        budget: random.some(|it| Amount { amount: it.below(4), unit: (*it.one(&["a", "b"])).to_owned() }),
        status: Vec::new(),
    }
}

fn actions(agent: &Agent) -> Vec<Action> {
    let mut all = Vec::new();
    for (method, name) in
        [("a", ""), ("a", "b"), ("a", "b/c"), ("a", "b/c/d"), ("a", "d"), ("e", "f"), ("a", "b/../d")]
    {
        for audience in ["r", "r/s", "r/s/t", "r/u"] {
            for x in VALUES.iter().map(|text| serde_json::from_str::<Value>(text).unwrap()).chain([json!([])])
            {
                for y in [json!(null), json!(["abc"]), json!([0])] {
                    let arguments = Map::from_iter([("x".to_owned(), x.clone()), ("y".to_owned(), y)]);
                    all.push(Action::new(agent, Call::new(method, name, arguments), audience, NOW).unwrap());
                }
            }
        }
    }
    all
}

/// The dimensions that are numbers, judged by themselves.
fn measures_are_within(parent: &Delegation, child: &Delegation) -> bool {
    let calls = match (parent.max_calls, child.max_calls) {
        (Some(most), Some(calls)) => calls <= most,
        (most, _) => most.is_none(),
    };
    let budget = match (&parent.budget, &child.budget) {
        (Some(most), Some(budget)) => budget.unit == most.unit && budget.amount <= most.amount,
        (most, _) => most.is_none(),
    };
    calls
        && budget
        && parent.from <= child.from
        && child.until <= parent.until
        && child.max_depth < parent.max_depth
}

fn permits(delegation: &Delegation, action: &Action) -> bool {
    delegation.capabilities.iter().any(|capability| capability.permits(action))
}

/// 4,000 random pairs: signing the child succeeds only if every measure is within the parent's, and then each of 840
/// actions that the child permits is one that the parent permits.
#[test]
fn a_child_that_is_not_within_its_parent_is_refused() {
    let agent = |seed| Agent::from_seed(MasterSeed::from_bytes(&[seed; 32])).deterministic();
    let (root, middle, leaf) = (agent(41), agent(42), agent(43));
    let actions = actions(&root);
    assert_eq!(actions.len(), 840);
    let mut random = Random(9);
    let (mut narrowed, mut refused, mut beyond) = (0, 0, 0);
    for _ in 0..400 {
        let parent = delegation(&mut random, &middle);
        let token = parent.sign(&root, None).unwrap();
        for near in 0..10 {
            let mut child = delegation(&mut random, &leaf);
            // Half of the children begin as copies of the parent, so that many are within it.
            if near % 2 == 0 {
                child = Delegation { max_depth: parent.max_depth.saturating_sub(1), ..parent.clone() };
                child.delegate = leaf.did().clone();
                if random.below(2) == 0 {
                    child.capabilities = vec![capability(&mut random)];
                }
                for own in &mut child.capabilities {
                    own.caveats.extend(random.some(caveat));
                }
            }
            let escapes = actions.iter().any(|action| permits(&child, action) && !permits(&parent, action));
            let within = measures_are_within(&parent, &child);
            match child.sign(&middle, Some(&token)) {
                Ok(_) => {
                    assert!(within && !escapes, "{child:#?} is not within {parent:#?}");
                    narrowed += 1;
                }
                Err(error) => {
                    let expected = if parent.max_depth == 0 { Reason::TooDeep } else { Reason::Widened };
                    assert_eq!(error.reason(), expected);
                    refused += 1;
                    beyond += u32::from(escapes);
                }
            }
        }
    }
    assert_eq!(narrowed + refused, 4000);
    assert!(narrowed > 400 && beyond > 300, "{narrowed} narrowed, {refused} refused, {beyond} beyond");
}
