import { expect, test } from 'bun:test'
import { procfileOffer, readProcfile } from '../../src/environments/procfile.ts'
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

test.each([
  ['migrate && node server.js', 'migrate && exec node server.js'],
  ['cd web && npm ci && node .', 'cd web && npm ci && exec node .'],
  ['migrate && A=1 node .', 'migrate && A=1 node .'],
  ['migrate && exit 0', 'migrate && exit 0'],
  ['cd $HOME', 'cd $HOME'],
  ["echo '&& b' && a", "echo '&& b' && a"],
  ['a && b; c', 'a && b; c'],
  ['a && b || c', 'a && b || c'],
])(
  'of commands that follow each other the last takes the place of the shell: %s',
  (line, script) => {
    expect(wordsIn(`web: ${line}`)).toEqual([['web', 'sh', '-c', script]])
  },
)

test('a line that is none is left out and named', () => {
  const text =
    'web: a\nno colon\n: nameless\nweb: again\nbad name!: x\nquote: "open\nempty:\nrun: x\nlast: b'
  const { entries, note } = readProcfile(text)
  expect(entries.map(({ name }) => name)).toEqual(['web', 'last'])
  expect(note).toBe(
    'Skipped in the Procfile: line 2 isn’t “name: command”, line 3 isn’t “name: command”, ' +
      'line 4 names web again, line 5 isn’t “name: command”, line 6 can’t be run, 2 more.',
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

const web = { name: 'web', command: null, replicas: 2, memoryMb: 256, cpus: null }
const clock = { name: 'clock', command: 'tick', replicas: 1, memoryMb: null, cpus: null }

const offered = (text: string, releaseCommand: string | null = null) =>
  procfileOffer({
    processes: [web, clock],
    releaseCommand,
    procfile: readProcfile(text).entries,
    ownSettings: {},
  })

test('an offer has the Procfile’s commands; limits and processes that are not in it stay', () => {
  expect(offered('web: serve\nworker: work\nrelease: migrate')).toEqual({
    processes: [
      { ...web, command: 'serve' },
      clock,
      { name: 'worker', command: 'work', replicas: 1, memoryMb: null, cpus: null },
    ],
    releaseCommand: 'migrate',
    names: ['web', 'worker', 'release'],
    isNew: true,
  })
})

test('an offer is new as long as the environment is without some of it', () => {
  expect(offered('web: serve')!.isNew).toBe(false)
  expect(offered('web: serve\nrelease: migrate')!.isNew).toBe(true)
  expect(offered('release: migrate', 'my own')!.isNew).toBe(false)
  expect(offered('worker: work')!.isNew).toBe(true)
  expect(offered('# nothing')).toBeNull()
})

test('what is taken already is offered no more', () => {
  expect(offered('clock: tick\nrelease: migrate', 'migrate')).toBeNull()
  expect(offered('clock: tick\nrelease: migrate', 'my own')).not.toBeNull()
})
