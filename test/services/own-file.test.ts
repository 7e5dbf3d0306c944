import { serialize } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { fromThread, ownFile, readOwnFile } from '../../src/services/own-file.ts'
import { openTemplate, openOwnFile } from '../../src/services/compose/open.ts'
import { stackOf } from '../../src/services/compose/template.ts'
import { testApp } from '../support/app.ts'
import { refusalOf } from './compose/refusal.ts'

const owner = 'ada'

/** As many lines as are read at all. */
const largest = `services:\n${Array.from(
  { length: 45 },
  (_, i) =>
    `  s${i}:\n    image: a\n    environment:\n${Array.from({ length: 60 }, (_, k) => `      K${k}: v\n`).join('')}`,
).join('')}`

test('a file that came from another thread is refused at the same place', () => {
  const text = [
    'x-a: &a {ports: ["${PORT}"]}',
    'services:',
    '  web:',
    '    <<: *a',
    '    image: nginx',
    '  db:',
    '    image: a',
    '    environment:',
    '      - A=1',
    '      - "${B}"',
  ].join('\n')
  const whole = openTemplate(text, { file: 'compose.yaml', field: 'compose' }, { name: 'x' })
  const sent = fromThread(structuredClone(whole))
  expect(sent.variables).toEqual(whole.variables)
  for (const value of ['x'.repeat(40_000), 'a b', '99999999'])
    for (const name of ['PORT', 'B']) {
      const values = new Map([
        ['PORT', '80'],
        ['B', 'b=1'],
        [name, value],
      ])
      const refusal = refusalOf(() => stackOf(whole, values))
      expect(refusalOf(() => stackOf(sent, values))).toBe(refusal)
      expect(refusal).toMatch(/line \d+, column \d+/)
    }
})

test('what a thread sends of a file is in proportion to its text, however long its keys are', () => {
  const text = `services: {a: {image: b}}\n? x-${'k'.repeat(50_000)}\n: [${'a,'.repeat(500)}a]\n`
  const sent = serialize(openOwnFile(text, null, { name: ownFile }))
  expect(sent.byteLength).toBeLessThan(5 * text.length)
})

test('what was read is not read again, until others were', async () => {
  const text = 'services: {a: {image: "b:${TAG:-1}"}}'
  const read = await readOwnFile(text, 'TAG=2', { owner })
  expect(read.variables.get('TAG')!.default).toBe('2')
  expect(await readOwnFile(text, 'TAG=2', { owner })).toBe(read)
  expect(await readOwnFile(text, null, { owner })).not.toBe(read)
  for (let i = 0; i < 8; i++) await readOwnFile(`${text}\n# ${i}`, null, { owner })
  expect(await readOwnFile(text, 'TAG=2', { owner })).not.toBe(read)
})

test('a refusal of a worker is the one that its reader throws', async () => {
  const text = 'services: {a: {imag: b}}'
  const refused = await readOwnFile(text, null, { owner }).catch((error) => error)
  expect(refused.message).toBe(refusalOf(() => openOwnFile(text, null, { name: ownFile })))
  expect(refused.fields).toEqual([{ field: 'compose', message: refused.message }])
})

test('the loop goes on while the largest file is read', async () => {
  const ada = testApp().logIn('ada@example.com')
  let beats = 0
  const beat = setInterval(() => beats++, 5)
  const { status, json } = await ada.post('/services/compose/configure', { compose: largest })
  clearInterval(beat)
  expect(status).toBe(200)
  expect(json.services).toHaveLength(45)
  expect(beats).toBeGreaterThan(5)
})
