import { expect, test } from 'bun:test'
import { aLiveEnvironment } from '../runs/runs.ts'
import { made } from '../services/instances.ts'
import { simulatedApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { aTarget } from './a-target.ts'
import { withVolume } from './scene.ts'
import { SimulatedRestic } from './simulated-restic.ts'

const short = ['sh', '-c', 'exit 0']

/** An environment with a volume that commands write to, on the simulated engine and restic. */
async function anEnvironment() {
  const restic = new SimulatedRestic()
  const t = simulatedApp({}, { openRestic: restic.open })
  t.engine.addImage({ tags: ['busybox:latest'], command: ['sleep', '999'] })
  const env = await aLiveEnvironment({ t, collects: false })
  const { ada, id, project, start, ended } = env
  const set = await ada.put(`/projects/${project.id}/envs/${id}`, { volumes: ['data:/data'] })
  if (set.status !== 200) throw new Error(set.text)
  await ended(await start(short)) // its volume is there
  const targetId = aTarget(t, ada.user.id)
  const see = async (backup: string) => (await ada.get(`/backups/${backup}`)).json
  const stateOf = async (container: string) => (await t.docker.inspectContainer(container))?.state
  return {
    ...{ ...env, restic, see, stateOf },
    async begin(hold: 'pause' | 'stop' = 'pause') {
      const { json, text } = await ada.post(`/envs/${id}/backups`, { targetId, hold })
      if (!json?.id) throw new Error(text)
      return json.id as string
    },
    aService: (name: string) => made(t, ada, withVolume, { name }),
    async backUp(service: { id: string }) {
      return (await ada.post(`/services/${service.id}/backups`, { targetId })).json.id as string
    },
    restore: (backup: string) => ada.post(`/backups/${backup}/restore`, { backupFirst: false }),
    /** Resolves once the log of a backup names it. */
    named: (backup: string, name: string) =>
      until(async () => (await ada.get(`/backups/${backup}/logs`)).text.includes(name)),
    /** Starts a command that runs until it is told to end. */
    async aCommand() {
      const run = await start('sleep 999')
      await until(() => env.isRunning(run))
      const [container] = (await env.containers()).filter(({ state }) => state === 'running')
      return { run, ...container!, end: () => t.docker.stopContainer(container!.id) }
    },
  }
}

test('a backup that stops what writes waits for commands, which it names, and can be cancelled', async () => {
  const { begin, see, aCommand, named, stateOf, ada, t, ended } = await anEnvironment()
  const { run, id, name, end } = await aCommand()
  const given = await begin('stop')
  await named(given, name)
  expect((await see(given)).status).toBe('running')
  await ada.post(`/backups/${given}/cancel`)
  expect([(await see(given)).status, await stateOf(id)]).toEqual(['cancelled', 'running'])

  const backup = await begin('stop')
  await named(backup, name)
  expect(await stateOf(id)).toBe('running')
  await end()
  await ended(run)
  await t.jobs.idle()
  expect((await see(backup)).status).toBe('succeeded')
})

test('a run that is started while a backup waits for its turn waits for it, or for its cancel', async () => {
  const { begin, see, aCommand, named, start, ended, linesOf, ada, path, t } = await anEnvironment()
  const aWaiting = async () => {
    const run = await start(short)
    await until(async () => (await linesOf(run)).length === 2)
    expect((await linesOf(run))[1]).toContain('cancel the backup') // else one that waits for it stands
    expect((await ada.get(`${path}/${run.id}`)).json.status).toBe('pending')
    return run
  }
  const run = await aCommand()
  const given = await begin('stop')
  await named(given, run.name)
  const next = await aCommand() // before the databases are dumped
  await run.end()
  await named(given, next.name)
  const freed = await aWaiting()
  await ada.post(`/backups/${given}/cancel`)
  expect((await ended(freed)).status).toBe('succeeded')

  const backup = await begin('stop')
  await named(backup, next.name)
  const last = await aCommand()
  await next.end()
  await named(backup, last.name)
  const waiting = await aWaiting()
  expect((await see(backup)).status).toBe('running')
  await last.end()
  expect((await ended(waiting)).status).toBe('succeeded')
  await t.jobs.idle()
  expect((await see(backup)).status).toBe('succeeded')
})

test('a command waits for a backup that holds its volumes, says so, and can be cancelled', async () => {
  const { begin, see, restic, start, ended, linesOf, containers, ada, path } = await anEnvironment()
  const { begun, goOn } = restic.heldUp('storeVolumes')
  const backup = await begin()
  await begun
  const [given, run] = [await start(short), await start(short)]
  for (const one of [given, run]) await until(async () => (await linesOf(one)).length === 2)
  expect((await containers()).map(({ state }) => state)).toEqual(['created', 'created'])
  await ada.post(`${path}/${given.id}/cancel`)
  expect((await ended(given)).status).toBe('cancelled')
  expect((await see(backup)).status).toBe('running')
  goOn()
  expect((await ended(run)).status).toBe('succeeded')
})

test('schedules that wait for a backup hold up no other one of their owner', async () => {
  const { begin, restic, ended, linesOf, ada, id, t } = await anEnvironment()
  const other = await aLiveEnvironment({ t, ada, name: 'other', collects: false })
  const runOf = async (environment: string, name: string) => {
    const path = `/envs/${environment}/schedules`
    const body = { name, command: short, schedule: '@yearly' }
    return (await ada.post(`${path}/${(await ada.post(path, body)).json.id}/run`)).json
  }
  const { begun, goOn } = restic.heldUp('storeVolumes')
  await begin()
  await begun
  const waiting = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) waiting.push(await runOf(id, name))
  for (const run of waiting) await until(async () => (await linesOf(run)).length === 2)
  expect((await other.ended(await runOf(other.id, 'f'))).status).toBe('succeeded')
  goOn()
  for (const run of waiting) expect((await ended(run)).status).toBe('succeeded')
})

test('a backup that waits for commands holds up no other one of its owner', async () => {
  const { begin, see, aCommand, named, ended, backUp, aService, t } = await anEnvironment()
  t.logIn('bob@example.com') // who could need a slot
  const service = await aService('one')
  const { run, name, end } = await aCommand()
  const backup = await begin('stop')
  await named(backup, name)
  const other = await backUp(service)
  await t.jobs.ended(other)
  expect([(await see(other)).status, (await see(backup)).status]).toEqual(['succeeded', 'running'])
  await end()
  await ended(run)
  await t.jobs.idle()
  expect((await see(backup)).status).toBe('succeeded')
})

test('a backup for which runs wait has its slot, and none of them waits for other backups', async () => {
  const { begin, see, aCommand, named, start, ended, backUp, aService, restic, t } =
    await anEnvironment()
  const services = [await aService('one'), await aService('two')]
  const first = await aCommand()
  const backup = await begin('stop')
  await named(backup, first.name)
  const last = await aCommand() // before the databases are dumped
  await first.end()
  await named(backup, last.name)
  const goOn = Promise.withResolvers<void>()
  restic.faults.storeVolumes = async (options) => {
    if (!options.tags.includes(`backup=${backup}`)) await goOn.promise
    return restic.usual.storeVolumes(options)
  }
  const others = []
  for (const service of services) others.push(await backUp(service))
  const run = await start(short)
  await last.end()
  expect((await ended(run)).status).toBe('succeeded')
  await t.jobs.ended(backup)
  expect((await see(backup)).status).toBe('succeeded')
  expect((await see(others[0]!)).status).toBe('running')
  goOn.resolve()
  await t.jobs.idle()
})

test('no command begins while a backup is restored, and each one once it was', async () => {
  const { begin, see, restore, restic, start, ended, t } = await anEnvironment()
  const backup = await begin()
  await t.jobs.idle()
  const { begun, goOn } = restic.heldUp('readVolumes')
  await restore(backup)
  await begun
  expect(await ended(await start(short))).toMatchObject({
    ...{ status: 'failed', error: { code: 'being_restored' } },
  })
  goOn()
  await t.jobs.idle()
  expect((await see(backup)).restore).toMatchObject({ status: 'succeeded' })
  expect((await ended(await start(short))).status).toBe('succeeded')
})

test('a restore replaces nothing before the commands have ended that use its volumes', async () => {
  const { begin, see, restore, restic, aCommand, named, stateOf, ended, t } = await anEnvironment()
  const backup = await begin()
  await t.jobs.idle()
  const { run, id, name, end } = await aCommand()
  await restore(backup)
  await named(backup, name)
  expect([restic.restored, await stateOf(id)]).toEqual([[], 'running'])
  await end()
  await ended(run)
  await t.jobs.idle()
  expect((await see(backup)).restore).toMatchObject({ status: 'succeeded' })
  expect(restic.restored).toHaveLength(1)
})
