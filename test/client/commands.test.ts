import { describe, expect, spyOn, test } from 'bun:test'
import { insertPreview } from '../../src/environments/preview-store.ts'
import { appBehindEdge } from '../deployments/simulated-edge.ts'
import { writeOutput } from '../logs/writing.ts'
import { aLaptop, onTerminal, withServer, withServerOf } from './laptop.ts'

describe('the project of a folder', () => {
  test('is found by its remote however that is written, and by the folder of a monorepo', async () => {
    const { ada, project, davit, git, folder, home, write } = await withServer({ jobsWait: true })
    const name = async (cwd = folder) => {
      const { stdout, stderr, status } = await davit(['status', '--json'], { cwd })
      return status === 0 ? JSON.parse(stdout).project.name : stderr
    }
    await ada.put(`/projects/${project.id}`, { repositoryUrl: 'https://git.example.com/Team/site' })
    for (const remote of [
      'git@git.example.com:team/site.git',
      'ssh://git@git.example.com/team/site',
    ])
      expect([git('remote', 'set-url', 'origin', remote), await name()]).toEqual(['', 'site'])

    const second = { name: 'docs', repositoryUrl: 'https://git.example.com/team/site.git' }
    const { json } = await ada.post('/projects', second)
    expect(await name()).toContain('--project')
    await ada.put(`/projects/${json.id}/settings`, { contextDir: 'apps/docs' })
    await write({ 'apps/docs/deep/file': '' })
    expect(await name(`${folder}/apps/docs/deep`)).toBe('docs')
    expect(await name()).toBe('site')

    git('remote', 'remove', 'origin')
    expect(await name()).toContain('davit link')
    const nowhere = await davit(['link', 'docs'], { cwd: home })
    expect([nowhere.status, nowhere.stderr]).toEqual([1, expect.stringContaining('git init')])
    expect((await davit(['link', 'docs'])).status).toBe(0)
    expect(await name()).toBe('docs')
    await ada.delete(`/projects/${json.id}`)
    expect(await name()).toContain('davit link')
    expect((await davit(['link', '--remove'])).status).toBe(0)
    expect(git('config', '--get-regexp', '^(user|davit)\\.|^core.bare')).not.toContain('davit')
    const unknown = await davit(['status', '--project', 'nothing'])
    expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining('site')])
  })

  test('is remembered as chosen on a terminal, unless another folder of the repository decides', async () => {
    const { ada, project, davit, folder, write, start } = await withServer({ jobsWait: true })
    await write({ 'web/page': '' })
    const { json } = await ada.post('/projects', {
      name: 'web',
      repositoryUrl: project.repository.url,
    })
    const settle = (id: string, contextDir: string) =>
      ada.put(`/projects/${id}/settings`, { contextDir })
    const answer = async () => {
      const terminal = onTerminal(start(['status']))
      await terminal.shows('1–2: ')
      terminal.type('site\n')
      expect(await terminal.child.exited).toBe(0)
    }
    const name = async (cwd: string) => {
      const { stdout, status } = await davit(['status', '--json'], { cwd })
      return status === 0 ? JSON.parse(stdout).project.name : null
    }
    await settle(project.id, 'api')
    await settle(json.id, 'web')
    await answer()
    expect([await name(`${folder}/web`), await name(folder)]).toEqual(['web', null])
    await settle(json.id, 'api')
    await answer()
    expect([await name(`${folder}/web`), await name(folder)]).toEqual(['site', 'site'])
  })

  test('has the environment of the branch, or the one that is named', async () => {
    const { ada, project, davit, git } = await withServer({ jobsWait: true })
    await ada.post(`/projects/${project.id}/envs`, { name: 'staging', branch: 'next' })
    const unclear = await davit(['env'])
    expect([unclear.status, unclear.stderr]).toEqual([2, expect.stringContaining('--env')])
    expect((await davit(['env', 'set', 'A=1', '--env', 'production'])).status).toBe(0)
    git('checkout', '--quiet', '-b', 'next')
    expect((await davit(['env', '--json'])).stdout).toContain('"items": []')
    expect((await davit(['env', '--env', 'production'])).stdout).toBe('A  1\n')
    expect((await davit(['env', '--env', 'nothing'])).status).toBe(1)
    git('checkout', '--quiet', '-b', 'release/2')
    const releases = { name: 'releases', branch: 'release/*' }
    expect((await ada.post(`/projects/${project.id}/envs`, releases)).status).toBe(201)
    expect((await davit(['env', 'set', 'R=1'])).stdout).toContain('in releases')
  })
})

test('previews don’t stand in the way of the environment of a branch, and one of a fork must be named', async () => {
  const { t, ada, project, davit, git } = await withServer({ jobsWait: true })
  await ada.put(`/projects/${project.id}`, { branch: 'main' })
  await ada.post(`/projects/${project.id}/envs`, { name: 'staging', branch: 'next' })
  const addPreview = async (number: number, branch: string | null) => {
    const made = await ada.post(`/projects/${project.id}/envs`, { name: `pr-${number}`, branch })
    const of = { environmentId: made.json.id, projectId: project.id, number, isFork: !branch }
    const told = { title: 'x', url: 'https://example.com', ref: 'x', headCommit: 'x' }
    insertPreview(t.db, { ...of, ...told, expiresAt: new Date() })
  }
  await addPreview(1, null)
  await addPreview(2, 'next')
  await addPreview(3, 'a-page')
  const target = async () => (await davit(['env', 'set', 'A=1'])).stdout
  expect(await target()).toContain('in production')
  git('checkout', '--quiet', '-b', 'next')
  expect(await target()).toContain('in staging')
  git('checkout', '--quiet', '-b', 'a-page')
  expect(await target()).toContain('in pr-3')
  git('checkout', '--quiet', '-b', 'another')
  expect((await davit(['env'])).status).toBe(2)
  expect((await davit(['env', '--env', 'pr-1'])).status).toBe(0)
})

describe('env', () => {
  test('sets from the line, from standard input and from a file, and removes', async () => {
    const { davit, write, folder } = await withServer({ jobsWait: true })
    expect((await davit(['env', 'set', 'A=1', 'B=x=y'])).status).toBe(0)
    const piped = await davit(['env', 'set', 'API_TOKEN'], { input: 'hush\nhush\n' })
    expect([piped.status, piped.stdout + piped.stderr]).not.toContain('hush')
    await davit(['env', 'set', 'A=2'])
    await write({ '.env': 'C="3 4"\nD=5\n' })
    expect((await davit(['env', 'set', '--file', '.env', '--plain'])).status).toBe(0)
    const { items } = JSON.parse((await davit(['env', '--json'])).stdout)
    const values = Object.fromEntries(items.map((one: any) => [one.key, one.value]))
    expect(values).toEqual({ A: '2', B: 'x=y', C: '3 4', D: '5', API_TOKEN: null })
    expect((await davit(['env', 'unset', 'A', 'B'])).status).toBe(0)
    expect((await davit(['env'])).stdout).toBe(
      'API_TOKEN  (secret)\nC          3 4\nD          5\n',
    )

    expect((await davit(['env', 'unset', 'A'])).status).toBe(1)
    expect((await davit(['env', 'set', '1A=x'])).status).toBe(1)
    for (const args of [['set'], ['set', 'X', 'Y'], ['unset'], ['sett', 'A=1'], ['set', 'E']])
      expect((await davit(['env', ...args])).status, args.join(' ')).toBe(2)
    for (const args of [
      ['set', '--file', '.env'],
      ['set', '--file', `${folder}/none`, '--plain'],
    ])
      expect((await davit(['env', ...args])).status, args.join(' ')).toBe(2)
  })

  test('refuses several lines where one is asked for, and takes one', async () => {
    const { davit, start } = await withServer({ jobsWait: true })
    const typed = async (text: string) => {
      const terminal = onTerminal(start(['env', 'set', 'SSH_KEY']))
      await terminal.shows('(hidden)')
      terminal.type(text)
      return terminal.child.exited
    }
    const stored = async () => JSON.parse((await davit(['env', '--json'])).stdout).items
    expect(await typed('-----BEGIN KEY-----\nabc\n-----END KEY-----\n')).toBe(1)
    expect(await typed('-----BEGIN KEY-----\rthe last line has no end')).toBe(1)
    expect(await stored()).toEqual([])
    expect(await typed('one line\r')).toBe(0)
    expect(await stored()).toMatchObject([{ key: 'SSH_KEY' }])
  })
})

describe('logs', () => {
  test('shows a deployment’s by its number, whole or what is asked for', async () => {
    const { davit } = await withServer()
    await davit(['deploy'])
    const { status, stdout } = await davit(['logs', '--deployment', '1'])
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^Uploaded by [^]*\nRunning at .*\n$/),
    ])
    const followed = await davit([
      'logs',
      '--follow',
      '--deployment',
      'latest',
      '-n',
      '1',
      '--json',
    ])
    expect(JSON.parse(followed.stdout)).toMatchObject({ stream: 'system' })
    const found = await davit(['logs', '--deployment', '1', '--search', 'Uploaded'])
    expect(found.stdout.split('\n')).toHaveLength(2)
    expect((await davit(['logs'])).status).toBe(0)
    expect((await davit(['logs', '--deployment', '7'])).status).toBe(1)
    for (const args of [
      ['-n', '0'],
      ['-f', '--search', 'x'],
      ['--process', 'web', '--deployment', '1'],
    ])
      expect((await davit(['logs', ...args])).status, args.join(' ')).toBe(2)
  })

  test('shows all that is asked for, in however many answers it comes', async () => {
    const { t, ada, project, davit } = await withServer({ jobsWait: true })
    const [{ id }] = (await ada.get(`/projects/${project.id}/envs`)).json.items
    const texts = Array.from({ length: 12_000 }, (_, at) => `INFO ${at} `.padEnd(200, '.'))
    texts[0] = 'ERROR at the start'
    const lines = texts.map((text, time) => ({ time, stream: 'stdout' as const, text }))
    writeOutput(t, { sourceId: id }, lines)
    const shown = async (...args: string[]) =>
      (await davit(['logs', ...args])).stdout.trimEnd().split('\n')
    expect(await shown('-n', '10000')).toEqual(texts.slice(-10_000))

    const { now } = performance
    let late = 0
    using _ = spyOn(performance, 'now').mockImplementation(
      () => now.call(performance) + (late += 3000), // each search ends after its first lines
    )
    expect(await shown('--level', 'error')).toEqual(texts.slice(0, 1))
    expect(await shown('--search', 'info 7 ', '-n', '2')).toEqual(texts.slice(7, 8))
  })
})

test('help and wrong arguments need no server', async () => {
  const { davit } = aLaptop()
  for (const args of [['help'], ['deploy', '--help'], ['run', '--help']])
    expect(await davit(args)).toMatchObject({ status: 0, stdout: expect.stringContaining('davit') })
  for (const args of [
    ['deploy', 'x'],
    ['run'],
    ['login'],
    ['status', '--nothing'],
    ['run', '--timeout', 'x', 'ls'],
  ])
    expect((await davit(args)).status, args.join(' ')).toBe(2)
  for (const args of [['deploy'], ['run', 'ls', '--help'], ['run', '--', '--help']])
    expect((await davit(args)).status, args.join(' ')).not.toBe(0)
})

test('deploy --share says why it can’t have one, and promote and cancel need one', async () => {
  const { davit } = await withServer({ jobsWait: true })
  const refused = await davit(['deploy', '--share', '10', '--sticky'])
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('DAVIT_EDGE')])
  expect((await davit(['deploy', '--share', '51'])).status).toBe(1)
  for (const args of [['--sticky'], ['--share', '10', '--at', '2030-01-01T00:00:00Z']])
    expect((await davit(['deploy', ...args])).status, args.join(' ')).toBe(2)
  expect((await davit(['promote'])).status).toBe(1)
  expect((await davit(['cancel'])).status).toBe(1)
})

test('deploy --share ends with what it gets, promote gives it all, and cancel takes one back', async () => {
  const { ada, project, davit, write } = await withServerOf(appBehindEdge())
  expect((await davit(['deploy'])).status).toBe(0)
  const statuses = async () =>
    (await ada.get(`/projects/${project.id}/deployments`)).json.items.map(
      ({ status, watch }: any) => [status, watch?.share?.percent, watch?.end],
    )
  await write({ 'www/index.html': 'second' })
  const shared = await davit(['deploy', '--share', '10', '--sticky'])
  expect([shared.status, shared.stderr]).toEqual([0, expect.stringContaining('10 % of the req')])
  expect((await statuses())[0]).toEqual(['running', 10, null])
  expect((await davit(['promote'])).status).toBe(0)
  expect((await statuses())[0]).toEqual(['running', undefined, null])
  expect((await davit(['deploy', '--share', '50'])).status).toBe(0)
  expect((await davit(['cancel'])).status).toBe(0)
  expect((await statuses()).map(([status]: string[]) => status)).toEqual([
    ...['cancelled', 'running', 'superseded'],
  ])
})

test('deploy in a freeze needs a note', async () => {
  const { ada, project, davit } = await withServer({ jobsWait: true })
  const [{ id }] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await ada.post(`/envs/${id}/freezes`, { until, reason: 'the fair' })
  const refused = await davit(['deploy', '--detach'])
  expect(refused.status).toBe(1)
  expect(refused.stderr).toContain('the fair')
  const passed = await davit(['deploy', '--detach', '--note', 'the shop is down', '--json'])
  expect(JSON.parse(passed.stdout).freeze).toMatchObject({ note: 'the shop is down' })
  expect((await davit(['deploy', '--at', until, '--note', 'x'])).status).toBe(2)
})

test('deploy --at plans a deployment in the time zone of the laptop, and cancel cancels it', async () => {
  const { ada, project, davit } = await withServer({ jobsWait: true })
  const at = new Date(Date.now() + 86_400_000).toISOString()
  const planned = await davit(['deploy', '--at', at, '--json'])
  expect(JSON.parse(planned.stdout)).toMatchObject({ at, problem: null })
  expect((await davit(['deploy', '--at', at])).stdout).toContain('what is pushed by then')
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  expect(environment.planned).toMatchObject({ at })
  expect((await davit(['deploy', '--at', 'soon'])).status).toBe(1)
  expect((await davit(['deploy', '--at', at, '--dirty'])).status).toBe(2)
  expect((await davit(['cancel'])).stdout).toContain('planned')
  expect((await davit(['cancel'])).status).toBe(1)
})
