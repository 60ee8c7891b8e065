//! Statements of the W3C standards that bind a reader of credentials or DID documents, with inputs that keep them and inputs that do not.

use crate::world::{expect, map};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Collects the inputs of one statement after the other.
pub struct Statements {
    pub base: Value,
    kind: &'static str,
    pub vectors: Vec<Value>,
    pub statements: BTreeSet<&'static str>,
    current: (&'static str, &'static str, &'static str),
    good: usize,
    bad: usize,
}

impl Statements {
    pub fn new(base: Value, kind: &'static str) -> Self {
        let (vectors, statements) = (Vec::new(), BTreeSet::new());
        Self { base, kind, vectors, statements, current: ("", "", ""), good: 0, bad: 0 }
    }

    /// Begins a statement.
    pub fn says(&mut self, id: &'static str, section: &'static str, statement: &'static str) -> &mut Self {
        assert!(self.statements.insert(id), "{id} stands twice");
        self.current = (id, section, statement);
        (self.good, self.bad) = (0, 0);
        self
    }

    pub fn add(&mut self, input: Value, reason: Option<&str>) -> &mut Self {
        let (id, section, statement) = self.current;
        let (what, number) = match reason {
            None => ("good", &mut self.good),
            Some(_) => ("bad", &mut self.bad),
        };
        *number += 1;
        let vector = json!({
            "id": format!("{id}-{what}-{number}"), "section": section, "statement": statement, "kind": self.kind,
            "input": input,
        });
        self.vectors.push(expect(vector, reason));
        self
    }

    /// The base with these members; `null` takes one away.
    pub fn with(&self, members: Value) -> Value {
        let mut input = self.base.clone();
        for (name, member) in map(members) {
            match member {
                Value::Null => drop(input.as_object_mut().unwrap().remove(&name)),
                member => input[name] = member,
            }
        }
        input
    }

    pub fn good(&mut self, members: Value) -> &mut Self {
        self.add(self.with(members), None)
    }

    pub fn bad(&mut self, members: Value) -> &mut Self {
        self.add(self.with(members), Some("bad-form"))
    }

    pub fn refused(&mut self, members: Value, reason: &str) -> &mut Self {
        self.add(self.with(members), Some(reason))
    }

    /// A resolution that gives this.
    pub fn finds(&mut self, input: Value, metadata: Value, content: &Value, about: Value) -> &mut Self {
        self.add(input, None)
            .returns(json!({"metadata": metadata, "content": content, "contentMetadata": about}))
    }

    /// One that gives nothing but an error of the standard, and why.
    pub fn fails(&mut self, input: Value, error: &str, reason: &str) -> &mut Self {
        let returned = json!({"metadata": {"error": error}, "content": null, "contentMetadata": {}});
        self.add(input, Some(reason)).returns(returned)
    }

    pub fn returns(&mut self, returned: Value) -> &mut Self {
        self.vectors.last_mut().unwrap()["returned"] = returned;
        self
    }
}

/// Fails if a statement has good inputs alone, or bad ones.
pub fn every_statement_has_both(vectors: &[Value]) {
    let ids = |bad: bool| -> BTreeSet<&str> {
        let chosen = vectors.iter().filter(|vector| vector.get("reason").is_some() == bad);
        chosen
            .map(|vector| vector["id"].as_str().unwrap())
            .map(|id| id.rsplitn(3, '-').nth(2).unwrap())
            .collect()
    };
    assert_eq!(ids(true), ids(false), "every statement has good and bad inputs");
}
