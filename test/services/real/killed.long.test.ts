import { expect, onTestFinished, test } from 'bun:test'
import { execIn } from '../../support/exec.ts'
import { anInstallation } from '../../support/installation.ts'
import { ensureServiceImages } from '../../support/machine.ts'
import { until } from '../../support/until.ts'
import { nothing, onTheEngine } from './a-service.ts'
import { aHangingRegistry } from './hanging-registry.ts'
import { aSlowEngine } from './slow-engine.ts'

await ensureServiceImages({ say: console.error })

type Service = {
  id: string
  status: string
  url: string
  error: object | null
  containers: { id: string; part: string }[]
}

test('killed while a service is pulled, made or started, Davit brings it up once', async () => {
  const registry = await aHangingRegistry()
  const engine = await aSlowEngine()
  const davit = anInstallation({}, { DOCKER_HOST: engine.host })
  onTestFinished(async () => {
    await davit.leave()
    engine.stop()
    await registry.stop()
  })
  let { client } = await davit.start()

  // pulling: the registry doesn’t respond
  const web = await client.post<Service>('/services/compose', {
    name: 'web',
    compose: webOf(registry.image),
  })
  await registry.asked
  expect(await look(web)).toMatchObject({ status: 'pulling', containers: [] })
  await davit.kill()
  registry.open()
  ;({ client } = await davit.start())
  expect(await settled(web)).toMatchObject({ status: 'running', error: null })
  expect(await (await fetch((await look(web)).url)).text()).toBe('hello\n')

  // creating: the engine has made the container, and Davit never hears of it
  const made = engine.keepBack(/^POST \S*\/containers\/create/)
  const redis = await client.post<Service>('/services/redis', { name: 'redis' })
  await made
  expect(await look(redis)).toMatchObject({ status: 'creating' })
  const password = await passwordOf(redis)
  await davit.kill()
  engine.letGo()
  ;({ client } = await davit.start())
  expect(await settled(redis)).toMatchObject({ status: 'running', error: null })
  expect(await passwordOf(redis)).toBe(password)
  expect(await command(redis, 'SET', 'greeting', 'hello')).toBe('OK')

  // starting, of a change: it is made in full, on the same data
  const changing = client.put(`/services/${redis.id}`, { REDIS_MAXMEMORY: '64mb' })
  changing.catch(() => {}) // its connection dies with Davit
  await until(async () => (await look(redis)).status === 'starting')
  await davit.kill()
  ;({ client } = await davit.start())
  expect(await settled(redis)).toMatchObject({ status: 'running', error: null })
  expect(await passwordOf(redis)).toBe(password)
  expect(await command(redis, 'GET', 'greeting')).toBe('hello')
  expect(await command(redis, 'CONFIG', 'GET', 'maxmemory')).toContain('67108864')

  // nothing is there twice, and nothing is left
  const all = await onTheEngine(davit)
  expect(all.containers).toHaveLength(2)
  expect(all.volumes).toEqual([`davit-${redis.id}-data`])
  expect(all.networks.toSorted()).toEqual([`davit-${web.id}`, `davit-${redis.id}`].toSorted())
  expect(davit.journal()).not.toContain(password)
  for (const { id } of [web, redis]) await client.delete(`/services/${id}?volumes=true`)
  expect(await onTheEngine(davit)).toEqual(nothing)

  function look({ id }: Service) {
    return client.get<Service>(`/services/${id}`)
  }

  async function settled(service: Service) {
    for (;;) {
      const seen = await look(service)
      if (!['pulling', 'creating', 'starting'].includes(seen.status)) return seen
      await Bun.sleep(100)
    }
  }

  async function passwordOf({ id }: Service) {
    type Secrets = { connection: { label: string; value: string }[] }
    const { connection } = await client.get<Secrets>(`/services/${id}/secrets`)
    return connection.find(({ label }) => label === 'Password')!.value
  }

  async function command(service: Service, ...words: string[]) {
    const { containers } = await look(service)
    const env = { REDISCLI_AUTH: password }
    return (await execIn(containers[0]!.id, ['redis-cli', ...words], { env })).output
  }
}, 180_000)

const webOf = (image: string) => `
services:
  web:
    image: ${image}
    command: [sh, -c, 'mkdir /www && echo hello > /www/index.html && exec httpd -f -p 80 -h /www']
    ports: ['80']
    init: true
    healthcheck: { test: [CMD, wget, -q, -O, /dev/null, 'http://127.0.0.1/'], interval: 1s }
`
