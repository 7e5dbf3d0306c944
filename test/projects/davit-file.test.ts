import { expect, test } from 'bun:test'
import { davitRules } from '../../src/environments/davit-form.ts'
import { checkDavitText, readDavitFile } from '../../src/projects/davit-file.ts'

const check = (text: string, file = 'davit.yaml') =>
  checkDavitText({ file, text }, davitRules(), {})

const places = async (text: string, file?: string) => {
  const checked = await check(text, file)
  if (!checked || !('mistakes' in checked)) throw new Error('There are no mistakes.')
  return checked.mistakes.map((mistake) =>
    /line (\d+), column (\d+)/.exec(mistake)!.slice(1).join(':'),
  )
}

const yaml = `
build: {start: node x.js, packages: [libvips42]}
processes:
  - name: web
  - {name: worker, command: [node, worker.js], memory_mb: 64, stop_seconds: 5}
release_command: npm run migrate
port: 8080
health_path: /health
health_timeout: 30
schedules:
  - {name: clean, command: npm run clean, schedule: 0 3 * * *, zone: Europe/Berlin}
watch_paths: [src]
`

const settings = {
  build: { start: 'node x.js', packages: ['libvips42'] },
  processes: [
    { name: 'web', command: null, replicas: 1, memoryMb: null, cpus: null },
    {
      name: 'worker',
      command: ['node', 'worker.js'],
      replicas: 1,
      memoryMb: 64,
      cpus: null,
      stopSeconds: 5,
    },
  ],
  releaseCommand: 'npm run migrate',
  port: 8080,
  healthPath: '/health',
  healthTimeout: 30,
  schedules: [
    { name: 'clean', command: 'npm run clean', schedule: '0 3 * * *', zone: 'Europe/Berlin' },
  ],
  watchPaths: ['src'],
}

test('the same settings are read from YAML, from JSON, and from a package.json indented with tabs', async () => {
  const json = Bun.YAML.parse(yaml) as object
  expect(await check(yaml)).toEqual({ settings })
  const withSchema = { $schema: 'https://davit.example.com/docs/davit.schema.json', ...json }
  expect(await check(JSON.stringify(withSchema), 'davit.json')).toEqual({ settings })
  const manifest = JSON.stringify({ name: 'x', davit: json }, null, '\t')
  expect(await check(manifest, 'package.json')).toEqual({ settings })
})

test.each([['{"name": "x"}'], ['not JSON'], ['[]'], ['null']])(
  'a package.json without settings has none: %s',
  async (text) => expect(await check(text, 'package.json')).toBeNull(),
)

test('a key without a value is not set', async () => {
  expect(await check('port:\nhealth_path: ~\n')).toEqual({ settings: {} })
})

test.each([
  ['an unknown key', 'port: 1\nprot: 2', '2:1'],
  ['a key of JSON’s spelling', 'healthPath: /x', '1:1'],
  ['an unknown key of build', 'build:\n  start: x\n  run: y', '3:3'],
  ['a secret', 'port: 1\nsecrets: {A: b}', '2:1'],
  ['variables', 'env: {A: b}', '1:1'],
  ['domains', 'domains: [a.example.com]', '1:1'],
  ['volumes', 'volumes: ["data:/x"]', '1:1'],
  ['a limit of the environment', 'memory_mb: 4096', '1:1'],
  ['which tags deploy', 'tags: v*', '1:1'],
  ['waiting for checks', 'port: 1\nwait_for_checks: false', '2:1'],
  ['what it is promoted from', 'promote_from: staging', '1:1'],
  [
    'a schedule of no time',
    "schedules:\n  - {name: a, command: b, schedule: '61 * * * *'}",
    '2:27',
  ],
  ['one that never comes', "schedules:\n  - {name: a, command: b, schedule: '0 0 30 2 *'}", '2:27'],
  [
    'one with a switch',
    'schedules:\n  - {name: a, command: b, schedule: "@daily", enabled: true}',
    '2:47',
  ],
  ['a schedule that is text', 'schedules: [daily]', '1:13'],
  ['a value that the form refuses', 'health_path: health', '1:1'],
  ['a process that the form refuses', 'processes:\n  - name: web\n  - name: W', '3:5'],
  ['an unknown key of a process', 'processes:\n  - name: web\n    memory: 1', '3:5'],
  ['a path outside of the repository', 'watch_paths:\n  - src\n  - ../x', '3:5'],
  ['a here-document', 'build:\n  start: cat <<END', '2:3'],
  ['a port without web', 'port: 8080\nprocesses:\n  - name: worker', '2:1'],
  ['a tab', 'build:\n\tstart: x', '2:1'],
  ['a repeated key', 'port: 1\nport: 2', '2:1'],
  ['a second document', 'port: 1\n---\nport: 2', '2:1'],
  ['a tag', 'port: !!js/function x', '1:21'],
  ['what isn’t YAML', 'port: [', '1:8'],
  ['a key of objects', 'port: 1\n__proto__: {port: 2}', '2:1'],
])('%s is refused at its line and column', async (_, text, place) => {
  expect(await places(text)).toEqual([place])
})

test('every mistake is named, in a package.json too', async () => {
  expect(await places('port: x\na: 1\nb: 2')).toEqual(['1:1', '2:1', '3:1'])
  expect(await places('{"davit": {\n  "port": "x"}}', 'package.json')).toEqual(['2:3'])
  expect(await places(Array.from({ length: 99 }, (_, i) => `k${i}: 1`).join('\n'))).toHaveLength(20)
})

const growing = Array.from(
  { length: 20 },
  (_, i) => `k${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`,
).join('\n')

test.each([
  ['aliases that grow', `k0: &a0 [x]\n${growing}`],
  ['an alias of itself', 'build: &a {start: *a}'],
  ['very deep nesting', '['.repeat(5000)],
  ['punctuation alone', '[],'.repeat(20_000)],
  ['no keys', '# nothing'],
  ['a list', '[1]'],
  ['a word', 'port'],
])('%s is refused soon', async (_, text) => {
  expect(await check(text)).toEqual({ mistakes: [expect.stringContaining('davit.yaml')] })
})

const read = (files: Record<string, string>) =>
  readDavitFile(
    {
      paths: Object.keys(files),
      read: async (path, { max }) => (files[path]!.length > max ? null : files[path]!),
    },
    davitRules(),
    { owner: 'ada', signal: AbortSignal.timeout(30_000) },
  )

test.each<[string, Record<string, string>]>([
  ['a file of 5 MB', { 'davit.yaml': 'a'.repeat(5_000_000) }],
  ['two files', { 'davit.yaml': 'port: 1', 'davit.json': '{"port": 1}' }],
  ['a file and a key', { 'davit.yaml': 'port: 1', 'package.json': '{"davit": {"port": 1}}' }],
])('%s fails the deployment', async (_, files) => {
  expect(await read(files).catch((error) => error)).toMatchObject({ code: 'davit_file_invalid' })
})

test('a huge package.json, and a davit.yaml elsewhere, are no settings', async () => {
  const huge = `{"davit": {"port": 1}, "x": "${'a'.repeat(5_000_000)}"}`
  expect(await read({ 'package.json': huge, 'app/davit.yaml': 'port: 1' })).toBeNull()
})
