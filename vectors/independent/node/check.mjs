// Verifies every file of vectors, from docs/spec alone: `node check.mjs FOLDER`.
//
// A subject is a module `subject_NAME` with `check(vector, byId)`: it asserts what a good vector says, and throws `Refused` with the
// code of the refusal. A file without a module fails, as does a module without a file.

import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Refused } from './reading.mjs'

const moduleOf = subject => `subject_${subject.replaceAll('-', '_')}.mjs`

/** Good and refused vectors of a file. */
async function checkFile(folder, subject) {
  const file = JSON.parse(readFileSync(join(folder, `${subject}.json`), 'utf8'))
  const { vectors } = file
  assert.deepEqual([file.version, file.subject], [1, subject])
  assert(vectors.length > 0)
  assert.equal(file.count, vectors.length, 'the count is not that of the vectors')
  const byId = new Map(vectors.map(vector => [vector.id, vector]))
  assert.equal(byId.size, vectors.length, 'an id stands twice')
  const { check } = await import(`./${moduleOf(subject)}`)
  let refused = 0
  for (const vector of vectors) {
    const expected = vector.result === 'reject' ? vector.reason : undefined
    let found
    try {
      await check(vector, byId)
    } catch (error) {
      if (!(error instanceof Refused)) throw new Error(`${vector.id}: ${error.stack}`)
      found = error.code
    }
    assert.equal(found, expected, `${vector.id}: ${found}, not ${expected}`)
    if (expected !== undefined) refused += 1
  }
  assert(refused > 0 && refused < vectors.length, 'good ones and refused ones')
  return [vectors.length - refused, refused]
}

async function main(folder) {
  const subjects = readdirSync(folder).filter(name => name.endsWith('.json')).map(name => name.slice(0, -5)).sort()
  const known = new Set(readdirSync(import.meta.dirname).filter(name => /^subject_.*\.mjs$/.test(name)))
  const files = new Set(subjects.map(moduleOf))
  const failed = [...known].filter(name => !files.has(name)).map(name => `${name}: FAILED no file`)
  let [good, refused] = [0, 0]
  for (const subject of subjects) {
    try {
      assert(known.has(moduleOf(subject)), 'no subject of this program')
      const counts = await checkFile(folder, subject)
      good += counts[0]
      refused += counts[1]
      console.log(`${subject}: ${counts[0]} good, ${counts[1]} refused`)
    } catch (error) {
      failed.push(`${subject}: FAILED ${error.message}`)
    }
  }
  failed.forEach(line => console.log(line))
  console.log(`node: ${subjects.length} files, ${good} good, ${refused} refused, ${failed.length} failed`)
  return failed.length > 0 || subjects.length === 0 ? 1 : 0
}

process.exitCode = await main(process.argv[2])
