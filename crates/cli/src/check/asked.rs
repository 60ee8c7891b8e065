//! Cases of other projects, put to the harness.

use crate::harness;
use crate::vectors::{Report, Verdict, judge};
use serde_json::{Value, json};

/// Expected answer to a request.
pub(super) enum Expected {
    /// These fields.
    Fields(Value),
    /// Refused: `"testPassed":false`, or an error that names a fault of the input.
    Refused,
    /// One or the other.
    FieldsOrRefused(Value),
    /// A result that is not these fields.
    Other(Value),
}

/// A request for the harness and its answer.
pub(super) type Step = (Value, Expected);

/// Puts every step of a case to the harness, and counts the case by its worst answer; `None` is a case of parameters that the product
/// does not have.
pub(super) fn put(report: &mut Report, name: &str, steps: Option<Vec<Step>>) {
    let Some(steps) = steps else {
        report.counts.skipped += 1;
        return;
    };
    let mut verdict = Verdict::Passed;
    for (request, expected) in steps {
        match answered(request, &expected) {
            Verdict::Passed => (),
            worse => {
                verdict = worse;
                break;
            }
        }
    }
    match verdict {
        Verdict::Passed => report.counts.passed += 1,
        Verdict::Failed(why) => {
            report.counts.failed += 1;
            report.complaints.push(format!("{name}: {why}"));
        }
        Verdict::Unsupported => {
            report.counts.unsupported += 1;
            report.complaints.push(format!("{name}: unsupported"));
        }
    }
}

fn answered(mut request: Value, expected: &Expected) -> Verdict {
    let answer: Value =
        serde_json::from_str(&harness::respond(request.to_string().as_bytes())).unwrap_or_default();
    let mut judged = |expect: &Value| {
        request["expect"] = expect.clone();
        judge(&request, &answer)
    };
    let refused = [json!({"testPassed": false}), json!({"error": "any"})];
    match expected {
        Expected::Fields(fields) => judged(fields),
        Expected::Refused | Expected::FieldsOrRefused(_) => {
            if let Expected::FieldsOrRefused(fields) = expected
                && judged(fields) == Verdict::Passed
            {
                return Verdict::Passed;
            }
            match refused.map(|it| judged(&it)) {
                [Verdict::Passed, _] | [_, Verdict::Passed] => Verdict::Passed,
                [Verdict::Unsupported, _] => Verdict::Unsupported,
                _ => Verdict::Failed(format!("is not refused: {}", shown(&answer))),
            }
        }
        Expected::Other(fields) => match judged(fields) {
            Verdict::Passed => Verdict::Failed("equals the value that it must not equal".to_owned()),
            Verdict::Failed(why) if answer.get("error").is_some() => Verdict::Failed(why),
            Verdict::Failed(_) => Verdict::Passed,
            Verdict::Unsupported => Verdict::Unsupported,
        },
    }
}

fn shown(answer: &Value) -> String {
    answer.to_string().chars().take(80).collect()
}
