import { afterAll, expect, onTestFinished, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anApp, aRepository } from '../deployments/apps.ts'
import { idle } from '../services/instances.ts'
import { execIn } from '../support/exec.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { anInstallation } from '../support/installation.ts'
import { ensureServiceImages } from '../support/machine.ts'
import type { Docker } from '../../src/docker/index.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'
import { bareEnvironment } from '../support/davit.ts'
import { runDavit } from '../support/run-davit.ts'
import { startS3, s3Keys } from '../support/s3-server.ts'
import { until } from '../support/until.ts'
import { hostAddress } from './restic/servers.ts'

await ensureServiceImages({ say: console.error })
const host = await hostAddress()
const s3 = startS3({ hostname: host })
afterAll(() => s3.stop())

type Row = { id: string; status: string }
type List<Item> = { items: Item[] }
type Target = Row & { password: string }

/** A server with a PostgreSQL, a service with files and an app with files, all backed up to one target. */
async function aServer(target: Record<string, string>, { hasDatabase = true } = {}) {
  const davit = anInstallation(
    {},
    {
      ...{ DAVIT_SETTLE_TIME: '1', DAVIT_RESTIC_IMAGE: await ensureRestic() },
      DAVIT_ALLOW_HOSTS: `127.0.0.1,${host}`,
    },
  )
  onTestFinished(async () => {
    await removeFromEngine(davit.docker, davit.labels())
    await davit.leave()
  })
  const { client } = await davit.start()
  const { id: targetId, password: key } = await client.post<Target>('/settings/targets', {
    ...{ name: 'offsite', ...target },
  })
  const db = hasDatabase ? await client.post<Row>('/services/postgresql', { name: 'db' }) : null
  const compose = `services: {one: {${idle}, volumes: ["data:/data"]}}\nvolumes: {data: {}}`
  const files = await client.post<Row>('/services/compose', { name: 'files', compose })
  for (const one of [db, files]) if (one) await settled(`/services/${one.id}`)
  const { url } = aRepository(davit.directory, anApp('here'))
  const project = await client.post<Row>('/projects', { name: 'site', repositoryUrl: url })
  const envs = await client.get<List<Row>>(`/projects/${project.id}/envs`)
  const env = envs.items[0]!
  await client.put(`/projects/${project.id}/envs/${env.id}`, { volumes: ['uploads:/uploads'] })
  await client.post(`/projects/${project.id}/deployments`)
  await deployed()

  const server = {
    ...{ davit, key, targetId, db, files, project, env },
    client: () => davit.client,
    sql: (text: string) =>
      inside({ service: db!.id }, ['psql', '-XAtq', '-U', 'davit', '-d', 'app', '-c', text]),
    write: (of: Of, path: string, text: string) =>
      inside(of, ['sh', '-c', `printf %s '${text}' > ${path}`]),
    read: (of: Of, path: string) => inside(of, ['cat', path]),
    async backUp(path: string, how: object = {}) {
      const { id } = await davit.client.post<Row>(`${path}/backups`, { targetId, ...how })
      const ended = await settled(`/backups/${id}`)
      expect(ended, JSON.stringify(ended)).toMatchObject({ status: 'succeeded' })
      return ended
    },
    settled,
    deployed,
    /** The server burns: nothing of it is left. */
    async burn() {
      expect(await davit.stop()).toBe(0)
      rmSync(davit.dataDir, { recursive: true })
      await removeFromEngine(davit.docker, davit.labels())
    },
    restore: (args: string[], env: Record<string, string> = {}) =>
      runDavit(['restore', ...args], {
        env: { ...davit.settings, RESTIC_PASSWORD: key, ...env },
        within: 180_000, // the machine may be busy
      }),
    volumes: async () =>
      (await davit.docker.listVolumes({ labels: davit.labels() })).map(({ name }) => name),
  }
  return server

  type Of = { service: string } | { environment: string }

  async function inside(of: Of, command: string[]) {
    const [name, id] = Object.entries(of)[0]!
    const labels = [...davit.labels(), `davit.${name}=${id}`]
    const found = () => davit.docker.listContainers({ labels })
    await until(async () => (await found()).length > 0) // after a restore it is made again
    const { exitCode, output } = await execIn((await found())[0]!.id, command)
    if (exitCode !== 0) throw new Error(output)
    return output.trim()
  }

  async function settled(path: string) {
    for (;;) {
      const row = await davit.client.get<Row>(path)
      if (
        !['pending', 'running', 'pulling', 'creating', 'starting'].includes(row.status) ||
        (path.startsWith('/services') && row.status === 'running')
      )
        return row
      await Bun.sleep(50)
    }
  }

  async function deployed() {
    for (;;) {
      const { items } = await davit.client.get<List<Row>>(`/projects/${project.id}/deployments`)
      const [newest] = items
      if (newest && ['running', 'failed'].includes(newest.status)) return newest
      await Bun.sleep(50)
    }
  }
}

test('a server that burnt is back from its bucket with one command: Davit, databases, files and apps', async () => {
  const bucket = {
    kind: 's3',
    endpoint: s3.url,
    bucket: 'backups',
    path: 'davit',
    region: 'us-east-1',
  }
  const s = await aServer({ ...bucket, ...s3Keys })
  const env = { environment: s.env.id }
  const files = { service: s.files.id }
  await s.sql(
    'CREATE TABLE orders AS SELECT n AS id, md5(n::text) AS code FROM generate_series(1, 5000) n',
  )
  await s.write(files, '/data/note', 'kept')
  await s.write(env, '/uploads/picture', 'old')
  await s.backUp(`/services/${s.db!.id}`)
  await s.backUp(`/services/${s.files.id}`)
  await s.backUp(`/envs/${s.env.id}`)
  await s.backUp('/settings')
  // after the backup of Davit, which doesn't know of these
  await s.sql('INSERT INTO orders SELECT n, md5(n::text) FROM generate_series(5001, 5100) n')
  await s.write(env, '/uploads/picture', 'new')
  await s.backUp(`/services/${s.db!.id}`)
  await s.backUp(`/envs/${s.env.id}`)
  await s.burn()

  const login = {
    AWS_ACCESS_KEY_ID: s3Keys.accessKey,
    AWS_SECRET_ACCESS_KEY: s3Keys.secretKey,
    AWS_DEFAULT_REGION: 'us-east-1',
  }
  const name = `s3:${s3.url}/backups/davit`
  const dry = await s.restore([name, '--dry-run'], login)
  expect(dry, dry.stderr).toMatchObject({ status: 0 })
  expect([existsSync(s.davit.dataDir), await s.volumes()]).toEqual([false, []])
  const { status, stdout, stderr } = await s.restore([name], login)
  expect(status, stdout + stderr).toBe(0)
  expect(await s.volumes()).toHaveLength(2)

  await s.davit.start()
  const restores = async () => {
    const { items } = await s.client().get<List<Row & { restore: Row | null }>>('/backups')
    return items.flatMap(({ restore }) => restore?.status ?? [])
  }
  await until(async () => (await restores()).some((status) => status === 'succeeded'))
  expect((await s.deployed()).status).toBe('running')
  expect(await s.sql('SELECT count(*), max(id) FROM orders')).toBe('5100|5100')
  expect(await s.read(files, '/data/note')).toBe('kept')
  expect(await s.read(env, '/uploads/picture')).toBe('new')
  expect(await restores()).toEqual(['succeeded'])
  const { items } = await s.client().get<List<Row>>('/backups')
  expect(items.map(({ status }) => status)).toEqual(items.map(() => 'succeeded'))
  // it goes on where it was
  await s.backUp(`/services/${s.db!.id}`)
  await s.backUp('/settings')
}, 400_000)

test('a restore that fails or is killed leaves nothing, and one that is repeated ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'davit-target-'))
  const moved = `${folder}-moved`
  onTestFinished(() => {
    for (const path of [folder, moved]) rmSync(path, { recursive: true, force: true })
  })
  const s = await aServer({ kind: 'directory', path: folder }, { hasDatabase: false })
  const files = { service: s.files.id }
  await s.write(files, '/data/note', 'kept')
  await s.backUp(`/services/${s.files.id}`)
  const empty = await s.restore([folder], { DAVIT_DATA_DIR: `${moved}-data` })
  expect([empty.status, empty.stderr]).toEqual([
    1,
    expect.stringContaining('no backup of Davit itself'),
  ])
  await s.backUp('/settings')
  const between = new Date().toISOString()
  const occupied = await s.restore([folder])
  expect([occupied.status, occupied.stderr]).toEqual([1, expect.stringContaining('in use')])
  // more than any disk has
  const rows = new Database(join(s.davit.dataDir, 'davit.db'))
  rows.run("UPDATE backups SET bytes = 1e18 WHERE subject_kind = 'service'")
  rows.close()
  await s.backUp('/settings')
  await s.burn()
  const isEmpty = async () =>
    expect([existsSync(s.davit.dataDir), await s.volumes()]).toEqual([false, []])

  for (const [args, env, says] of [
    [[folder], { RESTIC_PASSWORD: 'another one' }, 'another key'],
    [[folder], {}, 'but only'],
    [[folder, '--until', '2020-01-01'], {}, 'from before 2020'],
    [[`${folder}/nothing-here`], {}, 'can’t be read'],
  ] as const) {
    const refused = await s.restore([...args], env)
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(says)])
    await isEmpty()
  }
  expect((await s.restore([folder, '--until', 'soon'])).status).toBe(2)
  const of = await aVolumeOfOthers(s.davit.docker, `davit-${s.files.id}-data`)
  const taken = await s.restore([folder, '--until', between])
  expect([taken.status, taken.stderr]).toEqual([1, expect.stringContaining(of.name)])
  expect(await of.read()).toBe('theirs')
  await of.remove()
  await isEmpty()

  renameSync(folder, moved)
  const asked = [moved, '--until', between]
  const { killed, volumes } = await killedRestore(s, asked)
  expect([killed, volumes]).toEqual([137, [`davit-${s.files.id}-data`]])
  expect(readdirSync(s.davit.dataDir)).toContain('restoring')
  await expect(s.davit.start()).rejects.toThrow('was interrupted')
  const looked = await s.restore([...asked, '--dry-run'])
  expect(looked).toMatchObject({ status: 0, stdout: expect.stringContaining('files: backup of') })
  expect(await s.volumes()).toEqual(volumes) // it only looks
  await killedRestore(s, asked)
  rmSync(s.davit.dataDir, { recursive: true }) // as the documentation has it
  const again = await s.restore(asked)
  expect(again, again.stderr).toMatchObject({ status: 0 })
  expect(again.stdout).toContain(`The target offsite now leads to ${moved}`)
  expect(readdirSync(s.davit.dataDir)).not.toContain('restoring-volumes')
  await s.davit.start()
  await s.settled(`/services/${s.files.id}`)
  expect(await s.read(files, '/data/note')).toBe('kept')

  // what Docker still has is newer than any backup
  await s.write(files, '/data/note', 'newer')
  await s.davit.stop()
  rmSync(s.davit.dataDir, { recursive: true })
  const kept = await s.restore(asked)
  expect(kept.stdout).toContain('files: stays as Docker has it here.')
  await s.davit.start()
  await s.settled(`/services/${s.files.id}`)
  expect(await s.read(files, '/data/note')).toBe('newer')
  await s.davit.stop()
  expect((await s.restore(asked)).stderr).toContain('isn’t empty')
}, 400_000)

/** A volume without labels that has a file. */
async function aVolumeOfOthers(docker: Docker, name: string) {
  await docker.createVolume({ name })
  const remove = () => docker.removeVolume(name)
  onTestFinished(async () => void (await remove()))
  const note = join((await docker.volumeFolder(name))!, 'note')
  await Bun.write(note, 'theirs')
  return { name, read: () => Bun.file(note).text(), remove }
}

/** Killed as soon as there is a volume. */
async function killedRestore(s: Awaited<ReturnType<typeof aServer>>, args: string[]) {
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'restore', ...args], {
    env: { ...bareEnvironment(), ...s.davit.settings, RESTIC_PASSWORD: s.key },
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  })
  while (child.exitCode === null && (await s.volumes()).length === 0) await Bun.sleep(5)
  child.kill('SIGKILL')
  return { killed: await child.exited, volumes: await s.volumes() }
}
