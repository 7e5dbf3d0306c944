import { expect, test } from 'bun:test'
import { auditEvents } from '../../src/db/schema.ts'
import { aLiveEnvironment } from '../runs/runs.ts'
import { idle, made } from '../services/instances.ts'
import type { TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'

const { signal } = new AbortController()
const [mib, gib] = [2 ** 20, 2 ** 30]

/** Looks at a disk with so much free; of one of 30 GiB 1 GiB is the floor. */
function looksAt({ diskGuard }: TestApp, free: number, size = 30 * gib) {
  diskGuard.space = async () => ({ folder: '/', size, free, used: 99 })
  return diskGuard.look({ signal })
}

const write = (bytes: number, to: string) => `head -c ${bytes} /dev/urandom > ${to}`

const inContainer = ({ docker }: TestApp, id: string, script: string) =>
  docker.runInContainer(id, { command: ['sh', '-c', script], signal })

/** A service with a volume at /data. */
const keeper = `services: {a: {${idle}, volumes: ["data:/data"]}}\nvolumes: {data: }`

test('below the floor what wrote most is stopped, however much others have, and it is said', async () => {
  const { t, ada, start, ended, linesOf, containers } = await aLiveEnvironment()
  const [large, busy] = [
    await made(t, ada, keeper, { name: 'large' }),
    await made(t, ada, keeper, { name: 'busy' }),
  ]
  const partOf = (service: typeof large) => service.containers[0].id as string
  await inContainer(t, partOf(large), write(80 * mib, '/data/old'))
  const run = await start('sleep 999')
  await until(async () => (await containers()).length === 3)
  const statesOf = async () => {
    const of = async ({ id }: typeof large) =>
      (await ada.get(`/services/${id}`)).json.containers[0].state
    return [await of(large), await of(busy)]
  }

  const admin = t.logInAsAdmin()
  const { json: disk } = await admin.get('/settings/prune')
  expect(disk.owners).toMatchObject([{ email: ada.user.email, volumes: 80 * mib }])
  expect((await admin.page('/settings/prune')).text).toContain(ada.user.email)

  await looksAt(t, 3 * gib)
  await looksAt(t, 1.5 * gib)
  await inContainer(t, partOf(busy), write(40 * mib, '/data/new'))
  await looksAt(t, 1.2 * gib)
  await inContainer(t, partOf(busy), write(40 * mib, '/data/newer'))
  expect(await statesOf()).toEqual(['running', 'running'])
  await looksAt(t, 0.9 * gib)
  expect(await statesOf()).toEqual(['running', 'exited'])
  const { json } = await ada.get(`/services/${busy.id}`)
  expect(json.error).toMatchObject({ code: 'disk_filled' })
  expect((await ada.page(`/services/${busy.id}`)).text).toContain(json.error.message)
  expect((await ada.get(`/services/${large.id}`)).json.error).toBeNull()

  const [own] = (await containers()).filter(({ labels }) => labels['davit.kind'] === 'app')
  await looksAt(t, 0.8 * gib) // no one wrote since
  await inContainer(t, own!.id, write(40 * mib, '/layer'))
  await looksAt(t, 0.7 * gib)
  expect(await ended(run)).toMatchObject({ status: 'failed', error: { code: 'disk_filled' } })
  expect((await linesOf(run)).at(-1)).toContain('Davit stopped it')
  const stopped = t.db
    .select()
    .from(auditEvents)
    .all()
    .filter(({ action }) => action === 'container.stopped')
  expect(stopped).toHaveLength(2)

  await ada.post(`/services/${busy.id}/restart`)
  await t.jobs.idle()
  expect((await ada.get(`/services/${busy.id}`)).json).toMatchObject({
    status: 'running',
    error: null,
  })
})

test('a disk that was filled at once ends the largest layer, and no volume', async () => {
  const { t, ada, start, ended, containers } = await aLiveEnvironment()
  const large = await made(t, ada, keeper, { name: 'large' })
  await inContainer(t, large.containers[0].id, write(80 * mib, '/data/old'))
  const run = await start(['sh', '-c', `${write(40 * mib, '/layer')}; sleep 999`])
  const own = async () =>
    (await containers()).find(
      ({ labels, state }) => labels['davit.kind'] === 'app' && state === 'running',
    )
  await until(async () => {
    const found = await own()
    const size = found && (await inContainer(t, found.id, 'stat -c %s /layer')).output
    return Number(size) === 40 * mib
  })
  await looksAt(t, 0) // 40 MiB can't be what filled that
  expect((await own())?.state).toBe('running')
  await looksAt(t, gib, gib)
  await looksAt(t, 0, gib)
  expect(await ended(run)).toMatchObject({ status: 'failed', error: { code: 'disk_filled' } })
  expect((await ada.get(`/services/${large.id}`)).json.status).toBe('running')
})
