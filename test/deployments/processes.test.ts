import { expect, test } from 'bun:test'
import { clearStopReason, setStopReason } from '../../src/containers/store.ts'
import { newId } from '../../src/db/new-id.ts'
import { observe } from '../../src/deployments/observe.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { deleteLink, insertLink, listLinks } from '../../src/links/store.ts'
import { keepAddress } from '../../src/runtime/endpoint-store.ts'
import { insertRelease, listInstances } from '../../src/runtime/store.ts'
import { networkNameOf } from '../../src/runtime/workload.ts'
import { insertService } from '../../src/services/store.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { collect, linesUntil } from '../logs/collecting.ts'
import { anApp, answerOf, aProject, finished, logOf, rollBack, withContainer } from './apps.ts'
import { pathOf } from './events.ts'

const worker = { name: 'worker', command: ['sleep', '9999'] }

/** What is live in the environment, by process. */
async function live(ada: TestClient, { id, environmentId }: { id: string; environmentId: string }) {
  const { json } = await ada.get(`/projects/${id}/envs/${environmentId}`)
  return json.live.instances as { process: string; containerId: string; state: string }[]
}

const processesOf = (instances: { process: string }[]) => instances.map(({ process }) => process)

const inspect = (t: TestApp, { containerId }: { containerId: string }) =>
  t.docker.inspectContainer(containerId)

test('processes run beside each other, each with its own command and limits, and are switched together', async () => {
  const { t, ada } = withAda(testApp())
  const processes = [
    { ...worker, replicas: 2, memoryMb: 64, cpus: 0.5 },
    { name: 'web' },
    { name: 'clock', command: 'sh -c "echo \'tick  tock\'; exec sleep 9999"' },
  ]
  const project = await aProject(t, ada, anApp('first'), { processes, memoryMb: 128 })
  await project.set({ key: 'SHARED', value: 'by all' })
  const first = await project.deploy()
  expect(first).toMatchObject({ status: 'running' })
  expect(await answerOf(first)).toBe('first')

  const before = await live(ada, project)
  expect(processesOf(before)).toEqual(['worker', 'worker', 'web', 'clock'])
  const [one, two, web, clock] = await Promise.all(before.map((instance) => inspect(t, instance)))
  expect(first.containerId).toBe(web!.id)
  for (const container of [one!, two!]) {
    expect(container).toMatchObject({ command: ['sleep', '9999'], memoryLimit: 64 * 2 ** 20 })
    expect(container).toMatchObject({ cpus: 0.5, ports: [] })
    expect(container.name).toMatch(/^davit-site-production-worker-[0-9a-f]+$/)
    expect(container.env).toContain('SHARED=by all')
    expect(container.env.join()).not.toContain('PORT=')
  }
  expect(web!.env).toContain('PORT=8080')
  expect(web!.name).toMatch(/^davit-site-production-[0-9a-f]+$/)
  expect(clock).toMatchObject({ memoryLimit: 128 * 2 ** 20 })
  expect(clock!.command.slice(-1)).toEqual(["echo 'tick  tock'; exec sleep 9999"])

  const { containers } = (await ada.get('/containers/api')).json
  const shown = containers.map((c: { process: string; replica: number | null }) => [
    c.process,
    c.replica,
  ])
  expect(shown.toSorted()).toEqual([
    ['clock', null],
    ['web', null],
    ['worker', 1],
    ['worker', 2],
  ])
  expect((await ada.page('/containers')).text).toContain('<bdi>worker 2</bdi>')
  expect((await ada.page(`/containers/${two!.id}`)).text).toContain('<bdi>worker 2</bdi>')

  await project.configure({ processes: [{ name: 'web' }, worker] })
  const second = await project.deployFiles(anApp('second'))
  await t.jobs.idle()
  expect(await answerOf(second)).toBe('second')
  expect(processesOf(await live(ada, project))).toEqual(['web', 'worker'])
  for (const container of before)
    expect(await inspect(t, container)).toMatchObject({ state: 'exited' })
  expect((await ada.get(pathOf(first))).json.containerId).toBe(web!.id)

  const back = await finished(ada, (await rollBack(ada, first)).json)
  expect(await answerOf(back)).toBe('first')
  expect(processesOf(await live(ada, project))).toEqual(['web', 'worker'])
})

test('a process that doesn’t stay up fails the deployment, and nothing of the old one stops', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'), { processes: [{ name: 'web' }, worker] })
  await project.deploy()
  const before = await live(ada, project)
  await project.configure({
    processes: [{ name: 'web' }, { name: 'mail', command: "sh -c 'exit 7'" }],
  })
  Object.assign(t.config, { settleTime: 60_000 }) // one that ends must not count as running before
  const second = await project.deploy()
  await t.jobs.idle()
  expect(second).toMatchObject({ status: 'failed', downtimeMs: null })
  expect(second.error).toMatchObject({
    code: 'exited',
    message: 'Start failed: the process mail exited with code 7.',
  })
  expect(await logOf(ada, second)).toContain('mail | Here I am')
  expect(await live(ada, project)).toEqual(before)
})

test('each process has its own time to stop, whatever stops it, and its log says when it was killed', async () => {
  const { t, ada } = withAda(testApp({}, { config: { settleTime: 600 } }))
  collect(t)
  const command = [
    'sh',
    '-c',
    'trap "sleep 2; echo finished; exit" TERM; while :; do sleep .1; done',
  ]
  const hasty = { name: 'hasty', command, stopSeconds: 1 }
  const patient = { name: 'patient', command, stopSeconds: 200 }
  const processes = [hasty, patient]
  const project = await aProject(t, ada, anApp('x'), {
    port: 0,
    processes,
    volumes: ['data:/data'],
  })
  const act = (verb: string) => ada.post(`/envs/${project.environmentId}/${verb}`)
  await project.deploy()

  await project.configure({
    processes: [...processes, { name: 'bad', command: 'sh -c "sleep .2; false"' }],
  })
  const switched = await project.deploy()
  expect(switched.status).toBe('failed')
  await project.configure({ processes })
  expect((await act('restart')).status).toBe(200)
  expect((await act('stop')).status).toBe(200)

  const log = await logOf(ada, switched)
  expect(log).toContain('hasty was killed: it was still running after the 1 s it has to stop')
  expect(log).not.toContain('patient was killed')
  const stops: string[] = []
  await linesUntil(ada, `/projects/${project.id}/envs/${project.environmentId}/output`, (line) => {
    const end = /finished|ended: exit code (\d+)/.exec(line.text)
    if (end && line.process !== 'bad') stops.push(`${line.process} ${end[1] ?? end[0]}`)
    return stops.length === 4 * 3 // in a switch, of the version that failed, in a restart and a stop
  })
  expect(stops.toSorted()).toEqual([
    ...Array(4).fill('hasty 137'),
    ...Array(4).fill('patient 0'),
    ...Array(4).fill('patient finished'),
  ])
})

test('the image’s HEALTHCHECK is for what the image runs by itself', async () => {
  const { t, ada } = withAda(testApp())
  const { Dockerfile, ...www } = anApp('checked')
  const check = 'HEALTHCHECK CMD wget -q -O /dev/null http://127.0.0.1:8080/'
  const files = { ...www, Dockerfile: `${Dockerfile}\n${check}` }
  const project = await aProject(t, ada, files, { processes: [{ name: 'web' }, worker] })
  expect(await project.deploy()).toMatchObject({ status: 'running' })
  const checks = (await live(ada, project)).map((one) => inspect(t, one))
  const tests = (await Promise.all(checks)).map((container) => container!.healthTest !== null)
  expect(tests).toEqual([true, false])
})

test('an app runs while its web does, and without one while any process does', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { processes: [worker, { name: 'web' }] })
  const deployment = await project.deploy()
  await t.jobs.idle()
  const [work, web] = await live(ada, project)
  const status = async () => {
    const { signal } = new AbortController()
    await observe(t.deps, project.environmentId, { orphans: false, signal })
    return (await ada.get(pathOf(deployment))).json.status
  }
  await t.docker.stopContainer(work!.containerId)
  expect(await status()).toBe('running')
  expect((await live(ada, project)).map(({ state }) => state)).toEqual(['stopped', 'running'])
  await t.docker.startContainer(work!.containerId)
  await t.docker.stopContainer(web!.containerId)
  expect(await status()).toBe('stopped')

  // what still runs can be stopped, and all of it started again
  expect((await ada.post(`/envs/${project.environmentId}/stop`)).status).toBe(200)
  expect((await live(ada, project)).map(({ state }) => state)).toEqual(['stopped', 'stopped'])
  expect((await ada.post(`/envs/${project.environmentId}/stop`)).status).toBe(409)
  expect((await ada.post(`/envs/${project.environmentId}/start`)).status).toBe(200)
  expect(await status()).toBe('running')
})

test('why Davit stopped a process is said of that process alone', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { processes: [worker, { name: 'web' }] })
  await project.deploy()
  const [work, web] = await live(ada, project)
  const why = {
    code: 'crash_loop',
    message: 'The process worker ended 10 times.',
    hint: 'Look at its last lines.',
  } as const
  setStopReason(t.db, work!.containerId, why)
  const reasonOf = async ({ containerId }: { containerId: string }) =>
    (await ada.get(`/containers/${containerId}`)).json.stopReason
  for (const { containerId } of [work!, web!]) await t.docker.stopContainer(containerId)
  expect(await reasonOf(work!)).toBe(why.message)
  expect(await reasonOf(web!)).toBeNull()
  const { text } = await ada.page(`/projects/${project.id}/envs/${project.environmentId}`)
  expect(text).toContain('Davit stopped worker')

  clearStopReason(t.db, web!.containerId)
  expect(await reasonOf(work!)).toBe(why.message)
  clearStopReason(t.db, work!.containerId)
  expect(await reasonOf(work!)).toBeNull()
})

test('an app without web has no address, and its first process stands for it', async () => {
  const { t, ada } = withAda(simulatedApp())
  const processes = [{ ...worker, replicas: 2 }, { name: 'clock' }]
  const project = await aProject(t, ada, anApp('x'), { processes })
  const deployment = await project.deploy()
  expect(deployment).toMatchObject({ status: 'running', url: null })
  const [first] = listInstances(t.db, project.environmentId)
  expect(first).toMatchObject({ component: 'worker', slot: 0, containerId: deployment.containerId })
})

test('a deployment is refused when the network has no room for all its replicas', async () => {
  const { t, ada } = withAda(simulatedApp())
  const processes = [{ name: 'web' }, { ...worker, replicas: 20 }, { name: 'b', replicas: 9 }]
  const project = await aProject(t, ada, anApp('x'), { processes })
  const staging = (await ada.post(`/projects/${project.id}/envs`, { name: 'staging' })).json
  const deployment = insertDeployment(t.db, {
    ...{ projectId: project.id, environmentId: staging.id, status: 'running' },
    ...{ trigger: 'manual', triggeredBy: 'ada@example.com', repositoryUrl: 'file:///srv/x.git' },
  })
  withContainer(t.db, deployment, 'one')
  const instanceId = listInstances(t.db, staging.id)[0]!.id
  const network = networkNameOf({ id: staging.id, projectId: project.id })
  keepAddress(t.db, { instanceId, network, address: '10.9.8.2' })
  const taken = Array.from({ length: 40 }, (_, at) => `10.9.8.${at + 2}`)
  const addresses = taken.map((address) => ({ containerId: 'other', address, isFixed: false }))
  t.faults.networkUse = async () => ({ subnet: '10.9.8.0/26', gateway: '10.9.8.1', addresses })
  const refused = await ada.post(`/projects/${project.id}/deployments`)
  expect(refused.status).toBe(409)
  expect(refused.json.detail).toContain('The network is full')
  await project.configure({ processes: [{ name: 'web' }, worker] })
  expect((await ada.post(`/projects/${project.id}/deployments`)).status).toBe(201)
})

test('a deployment is refused when the network of a linked service has no room for it', async () => {
  const { t, ada } = withAda(simulatedApp())
  const processes = [{ name: 'web' }, { ...worker, replicas: 20 }, { name: 'b', replicas: 9 }]
  const project = await aProject(t, ada, anApp('x'), { processes })
  const { environmentId } = project
  const values = {
    ownerId: ada.user.id,
    name: 'Store',
    template: 'compose',
    version: '',
    values: '',
  }
  const file = { status: 'stopped', compose: 'services: {a: {image: busybox}}' } as const
  const { id: serviceId } = insertService(t.db, { ...values, ...file }, [])
  insertLink(t.db, { environmentId, serviceId, variables: {} })
  const slots = [{ component: 'a', slot: 0 }]
  const workload = { id: serviceId, kind: 'service' } as const
  const release = { workload, id: newId(), components: null, slots }
  const [{ id: instanceId } = { id: '' }] = insertRelease(t.db, release)
  const network = networkNameOf({ id: serviceId })
  keepAddress(t.db, { instanceId, network, address: '10.9.9.2' })
  const of = (subnet: string, count: number) => ({
    subnet: `${subnet}.0/26`,
    gateway: `${subnet}.1`,
    addresses: Array.from({ length: count }, (_, at) => {
      return { containerId: 'other', address: `${subnet}.${at + 2}`, isFixed: false }
    }),
  })
  t.faults.networkUse = async (name) => (name === network ? of('10.9.9', 40) : of('10.9.8', 2))
  const refused = await ada.post(`/projects/${project.id}/deployments`)
  expect(refused.status).toBe(409)
  expect(refused.json.detail).toContain('The network of the service Store is full: all 61')
  expect(refused.json.detail).toContain('Unlink apps')
  deleteLink(t.db, listLinks(t.db, environmentId)[0]!.link.id)
  expect((await ada.post(`/projects/${project.id}/deployments`)).status).toBe(201)
})
