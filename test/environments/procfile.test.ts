import { expect, test } from 'bun:test'
import { readProcfile } from '../../src/environments/procfile.ts'
import { wordsOf } from '../../src/platform/shell-words.ts'

const wordsIn = (text: string) =>
  readProcfile(text).entries.map(({ name, command }) => [name, ...wordsOf(command)])

test('a Procfile has a process a line; comments and blank lines are passed over', () => {
  const text = '# what runs\r\n\r\nweb: node server.js\nworker : bundle exec sidekiq -q "a b"\n'
  expect(readProcfile(text)).toEqual({
    entries: [
      { name: 'web', command: 'node server.js' },
      { name: 'worker', command: 'bundle exec sidekiq -q "a b"' },
    ],
    note: null,
  })
})

test('the command keeps its colons, and a name is written as Davit writes it', () => {
  expect(wordsIn('Celery_Beat: celery -A app:beat')).toEqual([
    ['celery-beat', 'celery', '-A', 'app:beat'],
  ])
})

test('what needs a shell is given to one, which a single command takes the place of', () => {
  expect(wordsIn('web: gunicorn app -b 0.0.0.0:$PORT')).toEqual([
    ['web', 'sh', '-c', 'exec gunicorn app -b 0.0.0.0:$PORT'],
  ])
  expect(wordsIn("release: A=1 echo 'it''s' && migrate")).toEqual([
    ['release', 'sh', '-c', "A=1 echo 'it''s' && migrate"],
  ])
})

test('a line that is none is left out and named', () => {
  const text =
    'web: a\nno colon\n: nameless\nweb: again\nbad name!: x\nquote: "open\nempty:\nlast: b'
  const { entries, note } = readProcfile(text)
  expect(entries.map(({ name }) => name)).toEqual(['web', 'last'])
  expect(note).toBe(
    'Left out of the Procfile: line 2 isn’t “name: command”, line 3 isn’t “name: command”, ' +
      'line 4 names web again, line 5 isn’t “name: command”, line 6 has a command that can’t be run, 1 more.',
  )
})

test.each([
  ['binary', '\0\u0001\u0002'.repeat(5000)],
  ['one long line', 'a'.repeat(16_384)],
  ['a line of colons', ':'.repeat(16_384)],
  ['blanks and an odd line break', `web:${' '.repeat(16_000)}\u2028x`],
  ['a command of a NUL', 'web: a\0b'],
  ['names of objects', '__proto__: x\nconstructor: y'],
  ['line breaks alone', '\n'.repeat(16_384)],
  [
    'more processes than any app has',
    Array.from({ length: 2000 }, (_, i) => `p${i}: x`).join('\n'),
  ],
])('a hostile Procfile is read in part and never throws: %s', (_, text) => {
  const { entries, note } = readProcfile(text)
  expect(entries.length).toBeLessThanOrEqual(20)
  expect(note?.length ?? 0).toBeLessThan(400)
  expect(Object.getPrototypeOf(entries[0] ?? {})).toBe(Object.prototype)
})
