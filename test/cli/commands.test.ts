import { expect, onTestFinished, test } from 'bun:test'
import { chmodSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import { git } from '../support/git-server.ts'
import { runDavit } from '../support/run-davit.ts'
import { aFolder } from '../support/folder.ts'

const email = 'ada@example.com'
const key = 'a secret key of this test, nobody may see'

test('a user gets a new password while Davit runs, and is logged out everywhere', async () => {
  const directory = aFolder()
  const env = { DAVIT_DATA_DIR: join(directory, 'data') }
  const davit = await startDavit({ directory, env })
  onTestFinished(async () => void (await davit.stop()))
  const visitor = async () => {
    const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(50_000) })
    await client.get('/health')
    return client
  }
  const ada = await visitor()
  await ada.post('/auth/register', { email, password: 'forgotten by everyone' })

  const reset = (address: string, input: string) =>
    runDavit(['user', 'reset-password', address], { env, input })
  const [unknown, common, typed] = await Promise.all([
    reset('eve@example.com', 'a password of hers'),
    reset(email, 'password\n'),
    reset('Ada@Example.com', 'typed by the operator\n'),
  ])
  expect(unknown).toMatchObject({
    status: 1,
    stderr: `davit: There is no user eve@example.com. Users: ${email}.\n`,
  })
  expect(common).toMatchObject({ status: 1, stderr: expect.stringContaining('most common ones') })
  expect(typed).toMatchObject({ status: 0, stderr: '' })
  expect(typed.stdout).not.toContain('typed by')
  await expect(ada.get('/settings/profile')).rejects.toThrow('401')
  await ada.post('/auth/login', { email, password: 'typed by the operator' })

  const made = await reset(email, '')
  const password = /^Password: (\S{19})$/m.exec(made.stdout)![1]!
  const again = await visitor()
  await again.post('/auth/login', { email, password })
  const { items } = await again.get<{ items: { actor: object; object: object }[] }>(
    '/settings/audit?action=password.reset',
  )
  const event = { actor: { id: null, email: 'davit user reset-password' }, object: { name: email } }
  expect(items).toMatchObject([event, event])
})

test('the doctor says of each thing that it is well, or what to do, and shows no secret', async () => {
  const directory = aFolder()
  const dataDir = join(directory, 'data')
  const env = { DAVIT_DATA_DIR: dataDir, DAVIT_SECRET_KEY: key }
  const davit = await startDavit({ directory, env })
  const port = new URL(davit.url).port
  const bad = {
    DAVIT_DATA_DIR: join(directory, 'bad'),
    DAVIT_PROT: '1',
    DOCKER_HOST: 'unix:///nowhere/docker.sock',
    DAVIT_PORT: port,
  }
  await Bun.write(join(bad.DAVIT_DATA_DIR, 'davit.db'), 'this is no database')
  writeFileSync(join(bad.DAVIT_DATA_DIR, 'secret.key'), key)
  chmodSync(bad.DAVIT_DATA_DIR, 0o755)
  const [well, ill, listed, surplus] = await Promise.all([
    runDavit(['doctor'], { env: { ...env, DAVIT_PORT: port } }),
    runDavit(['doctor'], { env: bad }),
    runDavit(['doctor', '--json'], { env: bad }),
    runDavit(['doctor', 'now']),
  ])
  expect(await davit.stop()).toBe(0)

  expect(well.stdout + well.stderr).not.toContain(key)
  for (const what of [
    'engine .*Docker',
    'git',
    'clock',
    'memory',
    'disk',
    'data',
    'database',
    'schema',
  ])
    expect(well.stdout).toMatch(new RegExp(`^ok +${what}`, 'm'))
  expect(well.stdout).toContain(`running, and responds at http://127.0.0.1:${port}`)
  expect(well).toMatchObject({ status: well.stdout.includes('to do') ? 1 : 0, stderr: '' })

  expect(ill.status).toBe(1)
  expect(ill.stdout + ill.stderr).not.toContain(key)
  for (const words of [
    'settings   DAVIT_PROT isn’t a setting',
    'engine     Docker at unix:///nowhere/docker.sock',
    'database   The database',
  ])
    expect(ill.stdout).toContain(`to do  ${words}`)
  expect(ill.stdout).toMatch(
    new RegExp(
      `^to do  port       no Davit is running here, and \\S+ \\(process \\d+\\) listens on port ${port}\\.`,
      'm',
    ),
  )
  expect(listed).toMatchObject({ status: 1, stderr: '' })
  const { findings } = JSON.parse(listed.stdout)
  expect(findings).toContainEqual({
    name: 'settings',
    status: 'to_do',
    finding: 'DAVIT_PROT isn’t a setting',
    fix: expect.stringContaining('Remove it'),
  })
  const version = expect.stringContaining('Bun')
  expect(findings).toContainEqual({ name: 'davit', status: 'ok', finding: version, fix: null })
  expect(surplus).toMatchObject({ status: 2, stderr: expect.stringContaining('davit doctor') })
})

test('a wrong call of a command is one line that says how it is called, and does nothing', async () => {
  const directory = aFolder()
  const dataDir = join(directory, 'data')
  const env = { DAVIT_DATA_DIR: dataDir, DAVIT_BACKUP_PASSPHRASE: 'wrong' }
  const file = join(directory, 'file')
  writeFileSync(file, `davit backup 1\nsealed ${'A'.repeat(43)} ${'A'.repeat(22)}\n`)
  const cases: [string[], RegExp, number][] = [
    [['backup', file, '--no-such-option'], /^davit: usage: davit backup FILE/, 2],
    [['backup', join(directory, 'new')], /^davit: There is no Davit data in/, 1],
    [['restore', file], /^davit: The passphrase does not open/, 1],
    [['user', 'delete', email], /^davit: usage: davit user reset-password EMAIL/, 2],
  ]
  const answers = await Promise.all(cases.map(([args]) => runDavit(args, { env })))
  for (const [i, { status, stdout, stderr }] of answers.entries()) {
    const [, words, wanted] = cases[i]!
    expect(stderr).toMatch(words)
    expect(stderr.trim().split('\n'), stderr).toHaveLength(1)
    expect({ status, stdout }).toEqual({ status: wanted, stdout: '' })
  }
  expect(existsSync(dataDir)).toBe(false)
})

test('a davit.yaml is checked without a server: each mistake with its place, and status 1', async () => {
  const directory = aFolder()
  const write = (name: string, text: string) => {
    const path = join(directory, name)
    writeFileSync(path, text)
    return path
  }
  const bad = write('davit.yaml', 'port: 8080\nprot: 1\nprocesses:\n  - name: W\n')
  const fine = write('davit.json', '{"port": 8080, "health_path": "/health"}')
  const big = write('big.yaml', 'a'.repeat(5_000_000))
  const [wrong, right, large, none, folder] = await Promise.all(
    [bad, fine, big, join(directory, 'none.yaml'), directory].map((path) =>
      runDavit(['check', path]),
    ),
  )
  expect(wrong).toMatchObject({ status: 1, stderr: '' })
  expect(wrong!.stdout.match(/line \d+, column \d+/g)).toEqual([
    'line 2, column 1',
    'line 4, column 5',
  ])
  expect(right).toMatchObject({ status: 0, stderr: '' })
  expect(right!.stdout).toContain('port, health_path')
  for (const refused of [large, none, folder])
    expect(refused).toMatchObject({ status: 1, stdout: '' })
})

test('a Compose file is checked as its deployment reads it, from the files that git would have', async () => {
  const cwd = aFolder()
  git(cwd, ['init', '-q'])
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text)
  const check = async (...args: string[]) => {
    const { status, stdout } = await runDavit(['check', ...args, '--json'], { cwd })
    return { status, files: JSON.parse(stdout).files as { mistakes: string[]; found: string[] }[] }
  }
  const compose = `services:
  web: {build: ., ports: ["80"]}
  db:
    image: "postgres:\${VERSION:?which}"
    env_file: [mail.env]
`
  write('compose.yaml', compose)
  write('davit.yaml', 'port: 8080\n')
  const missing = await check()
  expect(missing.status).toBe(1)
  expect(missing.files[0]!.mistakes).toEqual([])
  expect(missing.files[1]!.mistakes.join()).toContain('compose.yaml, line 5, column 16')

  write('mail.env', 'A=1\n')
  const fine = await check()
  expect(fine).toMatchObject({ status: 0, files: [{ mistakes: [] }, { mistakes: [] }] })
  expect(fine.files[1]!.found.join()).toMatch(/web has the addresses.*VERSION/)
  expect((await check('compose.yaml', '--service', 'nothing')).status).toBe(1)

  write('.gitignore', 'mail.env\n')
  expect((await check('compose.yaml')).status).toBe(1)
  symlinkSync('/etc/hostname', join(cwd, 'link.env'))
  write('compose.yaml', compose.replace('mail.env', 'link.env'))
  expect((await check('compose.yaml')).files[0]!.mistakes).toHaveLength(1)

  write('package.json', '{"davit": {"port": 1}}')
  write('compose.yaml', compose.replace('mail.env', 'davit.yaml'))
  expect((await check()).files.map(({ mistakes }) => mistakes.length)).toEqual([0, 1, 0])
})
