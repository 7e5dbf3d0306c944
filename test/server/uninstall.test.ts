import { expect, test } from 'bun:test'
import { existsSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { insertProject } from '../../src/projects/store.ts'
import { holdSetup } from '../../src/server/locks.ts'
import { layoutIn } from '../../src/server/layout.ts'
import { installationOf } from '../../src/server/store.ts'
import { executable, files, isAllGone, lossesOf } from '../../src/server/uninstall.ts'
import { labelFilter } from '../../src/docker/labels.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { aFolder } from '../support/folder.ts'

const work = { signal: new AbortController().signal, say: () => {} }

const aLayout = () => layoutIn(aFolder())

test('what will be lost is named before it is removed', () => {
  const layout = aLayout()
  mkdirSync(layout.data, { recursive: true })
  expect(lossesOf(layout, { data: true, apps: true })).toEqual([`everything in ${layout.data}`])

  const db = openDatabase(join(layout.data, 'davit.db'))
  openInstallation(db, new Secrets('x'.repeat(43)))
  const ada = { email: 'ada@example.com', name: null, passwordHash: 'x', role: 'admin' } as const
  const of = { ownerId: insertUser(db, ada).id, repositoryUrl: 'x', webhookSecret: 'x' }
  for (const [at, name] of ['shop', 'blog'].entries())
    insertProject(db, { ...of, name }, { hostPort: 20_000 + at })
  db.$client.close()

  expect(lossesOf(layout, { data: false, apps: false })).toEqual([])
  expect(lossesOf(layout, { data: false, apps: true })).toEqual([
    '2 projects (blog, shop): containers, images and volumes with their data',
  ])
  expect(lossesOf(layout, { data: true, apps: false })).toEqual([
    'users, settings, deployments, logs and secrets',
    'control over 2 projects (blog, shop), which run on',
  ])
})

test('a damaged database doesn’t keep Davit from being removed', () => {
  const layout = aLayout()
  expect(installationOf(layout.data)).toBeNull()
  mkdirSync(layout.data, { recursive: true })
  const everything = [`everything in ${layout.data}`]
  for (const content of ['damaged'.repeat(1000), '']) {
    writeFileSync(join(layout.data, 'davit.db'), content)
    expect(installationOf(layout.data)).toBeNull()
    expect(lossesOf(layout, { data: true, apps: true })).toEqual(everything)
  }
})

test('an app or a service is removed once nothing of it is left, of any kind', async () => {
  const { t, ada } = withAda(simulatedApp())
  const isDone = () => isAllGone(t.docker, t.instanceId)
  expect(await isDone()).toBe(true)
  await (await aProject(t, ada, anApp('x'), { volumes: ['data:/data'] })).deploy()
  const { removeNetwork, removeImage, removeVolume } = t.docker
  const labels = labelFilter(t.instanceId)
  expect(await isDone()).toBe(false)
  for (const { id } of await t.docker.listContainers({ labels, all: true }))
    await t.docker.removeContainer(id, { force: true })
  expect(await isDone()).toBe(false)
  for (const { name } of await t.docker.listVolumes({ labels })) await removeVolume(name)
  expect(await isDone()).toBe(false)
  for (const { tags } of await t.docker.listImages({ labels })) await removeImage(tags[0]!)
  expect(await isDone()).toBe(false)
  for (const { id } of await t.docker.listNetworks({ labels })) await removeNetwork(id)
  expect(await isDone()).toBe(true)
})

test('a home that is a link is removed where it leads', async () => {
  const layout = aLayout()
  const disk = join(layout.root, 'disk')
  mkdirSync(layout.data, { recursive: true })
  writeFileSync(join(layout.data, 'davit.db'), '')
  renameSync(layout.home, disk)
  symlinkSync(disk, layout.home)
  const outside = join(layout.root, 'outside')
  writeFileSync(outside, 'of someone else')
  symlinkSync(outside, join(disk, 'link'))
  const step = files(layout)
  expect(await step.isDone([])).toBe(false)
  await step.act(work)
  expect(await step.isDone([])).toBe(true)
  expect(existsSync(disk)).toBe(false)
  expect(lstatSync(layout.home, { throwIfNoEntry: false })).toBeUndefined()
  expect(existsSync(outside)).toBe(true)
})

test('a home that is mounted, and stays empty, is no work left', async () => {
  const layout = aLayout()
  mkdirSync(layout.data, { recursive: true })
  expect(await files(layout).isDone([])).toBe(true)
  writeFileSync(join(layout.data, 'davit.db'), '')
  expect(await files(layout).isDone([])).toBe(false)
})

test('what an interruption left beside the executable is removed too', async () => {
  const layout = aLayout()
  const step = executable(layout)
  expect(await step.isDone([])).toBe(true)
  mkdirSync(dirname(layout.executable), { recursive: true })
  writeFileSync(`${layout.executable}.previous`, '')
  expect(await step.isDone([])).toBe(false)
  await step.act(work)
  expect(await step.isDone([])).toBe(true)
})

test('while one davit install or davit uninstall runs, another one is refused', () => {
  const layout = aLayout()
  const hold = holdSetup(layout)
  expect(() => holdSetup(layout)).toThrow(expect.objectContaining({ code: 'setup_runs' }))
  hold.close()
  holdSetup(layout).close()
})
