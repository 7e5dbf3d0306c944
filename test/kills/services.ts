import { expect, onTestFinished } from 'bun:test'
import { aHangingRegistry } from '../services/real/hanging-registry.ts'
import { nothing, onTheEngine } from '../services/real/a-service.ts'
import { aSlowEngine } from '../services/real/slow-engine.ts'
import { execIn } from '../support/exec.ts'
import { ensureServiceImages } from '../support/machine.ts'
import { until } from '../support/until.ts'
import type { Operation } from './harness.ts'

type Service = {
  id: string
  status: string
  url: string
  error: object | null
  containers: { id: string }[]
}

/** One is pulled, one made, which is then changed and deleted. */
export const service: Operation = async (start) => {
  await ensureServiceImages({ say: console.error })
  const registry = await aHangingRegistry()
  const engine = await aSlowEngine()
  const davit = await start({ DOCKER_HOST: engine.host })
  onTestFinished(async () => {
    engine.stop()
    await registry.stop()
  })
  let web: Service, redis: Service, password: string
  const look = ({ id }: Service) => davit.client.get<Service>(`/services/${id}`)
  const runs = async (service: Service) => {
    await until(async () => (await look(service)).status === 'running')
    expect((await look(service)).error).toBeNull()
  }
  const passwordOf = async ({ id }: Service) => {
    type Secrets = { connection: { label: string; value: string }[] }
    const { connection } = await davit.client.get<Secrets>(`/services/${id}/secrets`)
    return connection.find(({ label }) => label === 'Password')!.value
  }
  const command = async (service: Service, ...words: string[]) => {
    const { containers } = await look(service)
    const env = { REDISCLI_AUTH: password }
    return (await execIn(containers[0]!.id, ['redis-cli', ...words], { env })).output
  }
  return {
    moments: [
      {
        name: 'it is pulled: the registry doesn’t respond',
        async begin() {
          const compose = webOf(registry.image)
          web = await davit.client.post('/services/compose', { name: 'web', compose })
          await registry.asked
          expect(await look(web)).toMatchObject({ status: 'pulling', containers: [] })
        },
        meanwhile: async () => registry.open(),
        async end() {
          await runs(web)
          expect(await (await fetch((await look(web)).url)).text()).toBe('hello\n')
        },
      },
      {
        name: 'it is made: the engine has made the container, and Davit never hears of it',
        async begin() {
          const made = engine.keepBack(/^POST \S*\/containers\/create/)
          redis = await davit.client.post('/services/redis', { name: 'redis' })
          await made
          expect(await look(redis)).toMatchObject({ status: 'creating' })
          password = await passwordOf(redis)
        },
        meanwhile: async () => engine.letGo(),
        async end() {
          await runs(redis)
          expect(await passwordOf(redis)).toBe(password)
          expect(await command(redis, 'SET', 'greeting', 'hello')).toBe('OK')
        },
      },
      {
        name: 'it is changed',
        async begin() {
          davit.client.put(`/services/${redis.id}`, { REDIS_MAXMEMORY: '64mb' }).catch(() => {}) // its connection dies with Davit
          await until(async () => (await look(redis)).status === 'starting')
        },
        async end() {
          await runs(redis)
          expect(await passwordOf(redis)).toBe(password)
          expect(await command(redis, 'GET', 'greeting')).toBe('hello')
          expect(await command(redis, 'CONFIG', 'GET', 'maxmemory')).toContain('67108864')
          const all = await onTheEngine(davit)
          expect(all.containers).toHaveLength(2)
          expect(all.volumes).toEqual([`davit-${redis.id}-data`])
          expect(davit.journal()).not.toContain(password)
        },
      },
      {
        name: 'it is deleted: the engine has removed the container, and Davit never hears of it',
        async begin() {
          const removed = engine.keepBack(/^DELETE \S*\/containers\//)
          for (const { id } of [web, redis])
            davit.client.delete(`/services/${id}?volumes=true`).catch(() => {}) // as above
          await removed
        },
        meanwhile: async () => engine.letGo(),
        end: () => until(async () => Bun.deepEquals(await onTheEngine(davit), nothing)),
      },
    ],
  }
}

const webOf = (image: string) => `
services:
  web:
    image: ${image}
    command: [sh, -c, 'mkdir /www && echo hello > /www/index.html && exec httpd -f -p 80 -h /www']
    ports: ['80']
    init: true
    healthcheck: { test: [CMD, wget, -q, -O, /dev/null, 'http://127.0.0.1/'], interval: 1s }
`
