import { expect, test } from 'bun:test'
import { Failure } from '../../src/platform/errors.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { aCommand, anApp, answerOf, aProject, deployed, logOf, untilAnswers } from './apps.ts'
import { pathOf } from './events.ts'

test('a new deployment takes the port and the volume of the old one, and shows the gap', async () => {
  const { t, ada } = withAda(testApp())
  const script = 'ls /data > /data/seen; touch /data/$HOSTNAME; exec httpd -f -p 8080 -h /data'
  const project = await aProject(t, ada, aCommand(script), { volumes: ['store:/data'] })
  const first = await project.deploy()
  expect(first.downtimeMs).toBeNull()

  const second = await project.deploy()
  await t.jobs.idle()

  expect(second.url).toBe(first.url)
  const seen = await answerOf({ url: `${second.url}/seen` })
  expect(seen.split('\n')).toContain(first.containerId.slice(0, 12))
  expect(second.downtimeMs).toBeGreaterThan(0)
  expect((await logOf(ada, second)).join('\n')).toContain('Downtime during the switch')
  expect((await ada.get(pathOf(first))).json.status).toBe('superseded')
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({
    state: 'exited',
    restartPolicy: { name: 'no' },
  })
  const volumes = await t.docker.listVolumes({ labels: [`davit.project=${project.id}`] })
  expect(volumes.map(({ labels }) => labels['davit.environment'])).toEqual([project.environmentId])
  const sealed = t.db.$client.query('SELECT id FROM releases WHERE components IS NOT NULL')
  expect(sealed.all()).toEqual([first, second].map(({ id }) => ({ id })))
  const names = second.steps.map(({ name }: { name: string }) => name)
  expect(names).toEqual(['cloning', 'building', 'deploying'])
  for (const { startedAt, finishedAt } of second.steps)
    expect(Date.parse(finishedAt)).toBeGreaterThanOrEqual(Date.parse(startedAt))
})

test('where the new one does not pass the gate the old one starts again, and the gap is told', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('first'), { healthTimeout: 1 })
  const first = await project.deploy()
  project.repository.commit(aCommand('sleep 999'))

  const second = await project.deploy()

  expect(second.status).toBe('failed')
  expect(second.downtimeMs).toBeGreaterThan(1000)
  expect(await logOf(ada, second)).toContain('The previous container serves again.')
  await untilAnswers(first, 'first')
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({ state: 'running' })
})

test('a stop of Davit in the middle of a switch lets the old one serve until the next start', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'), { volumes: ['data:/data'] })
  const first = await project.deploy()
  await t.jobs.idle()
  Object.assign(t.config, { settleTime: 600_000 })
  const started = Promise.withResolvers<void>()
  t.faults.startContainer = async (id, ...rest) => {
    await t.docker.startContainer(id, ...rest)
    if (id !== first.containerId) started.resolve()
  }
  const second = await project.trigger()
  await started.promise
  const stateOfFirst = () => t.engine.container(first.containerId).state
  expect(stateOfFirst()).toBe('exited')

  await t.jobs.stop()

  expect(stateOfFirst()).toBe('running')
  expect((await ada.get(pathOf(second))).json.status).toBe('pending')
  expect((await ada.get(pathOf(first))).json.status).toBe('running')
  expect([...t.engine.containers.keys()]).toEqual([first.containerId])
})

test('a worker starts beside the old one, which is stopped only when the new one stays up', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('x'), { port: 0 })
  const first = await project.deploy()
  expect(first).toMatchObject({ status: 'running', url: null })

  const second = await project.deploy()
  await t.jobs.idle()

  expect(second).toMatchObject({ status: 'running', downtimeMs: null })
  expect((await logOf(ada, second)).join('\n')).not.toContain('Stopping')
  expect(await t.docker.inspectContainer(first.containerId)).toMatchObject({
    state: 'exited',
    restartPolicy: { name: 'no' },
  })
  const before = await t.docker.inspectContainer(second.containerId)
  expect(before).toMatchObject({ state: 'running', ports: [] })

  Object.assign(t.config, { settleTime: 60_000 }) // the one that fails never waits for it
  await project.configure({ processes: [{ name: 'web', command: 'sh -c "sleep 0.3; exit 5"' }] })
  const third = await project.deploy()

  expect(third.error).toMatchObject({ code: 'exited', step: 'deploying' })
  const after = await t.docker.inspectContainer(second.containerId)
  expect(after).toMatchObject({ state: 'running', startedAt: before!.startedAt })
})

test('two environments of a project run beside each other on one network, apart from other projects', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_BUILD_CONCURRENCY: '2', DAVIT_SETTLE_TIME: '2' }))
  const project = await aProject(t, ada, anApp('production'))
  const other = await aProject(t, ada, anApp('other'), { name: 'other' })
  project.repository.commit(anApp('staging'), { branch: 'staging' })
  const staging = await ada.post(`/projects/${project.id}/envs`, {
    name: 'staging',
    branch: 'staging',
  })
  const asked = { environmentId: staging.json.id }

  const [a, b, c] = await Promise.all([
    project.deploy(),
    deployed(ada, project.id, asked),
    other.deploy(),
  ])

  expect([a, b, c].map(({ error }) => error)).toEqual([null, null, null])
  expect([await answerOf(a), await answerOf(b), await answerOf(c)]).toEqual([
    'production',
    'staging',
    'other',
  ])
  const containers = await Promise.all(
    [a, b, c].map(({ containerId }) => t.docker.inspectContainer(containerId)),
  )
  const networks = containers.map((container) => Object.keys(container!.addresses))
  expect(networks[0]).toEqual(networks[1]!)
  expect(networks[2]).not.toEqual(networks[0]!)
  expect(networks.map(({ length }) => length)).toEqual([1, 1, 1])
  const labels = [`davit.instance=${t.instanceId}`]
  expect(await t.docker.listNetworks({ labels })).toHaveLength(2)

  const address = containers[0]!.addresses[networks[0]![0]!]
  const look = `nc -w 1 ${address} 8080 </dev/null && echo reached || echo apart`
  const script = `mkdir /www; (${look}) > /www/index.html; exec httpd -f -p 8080 -h /www`
  const stranger = await aProject(t, ada, aCommand(script), { name: 'stranger' })
  expect(await answerOf(await stranger.deploy())).toBe('apart\n')
})

test('what goes wrong after it leaves the new one serving', async () => {
  const { t, ada } = withAda(simulatedApp())
  const project = await aProject(t, ada, anApp('first'))
  await project.deploy()
  await t.jobs.idle()
  project.repository.commit(anApp('second'))
  t.faults.listContainers = () =>
    Promise.reject(new Failure('engine_timeout', 'It is silent.', 'Wait.'))
  const second = await project.deploy()
  await t.jobs.idle()
  expect(second.status).toBe('running')
  expect(await t.docker.inspectContainer(second.containerId)).toMatchObject({ state: 'running' })
  expect((await ada.get(pathOf(second))).json.status).toBe('running')
})
