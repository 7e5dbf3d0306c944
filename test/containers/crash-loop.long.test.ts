import { expect, test } from 'bun:test'
import { CrashCount } from '../../src/runtime/crash-count.ts'
import { testApp, withAda } from '../support/app.ts'
import { anOwn, aStranger, listen, sooner } from './engine.ts'

const always = { restart: { name: 'unless-stopped' } } as const

/** Hears events at seconds: `die 3`, `start 4`; `finish 5` is an exit with success. */
function hear(...events: string[]) {
  const crashes = new CrashCount()
  for (const event of events) {
    const [action, at] = event.replace('finish', 'die').split(' ')
    const exitCode = event.startsWith('finish') ? '0' : '1'
    crashes.hear({ id: 'a', action: action!, time: seconds(Number(at)), attributes: { exitCode } })
  }
  return crashes
}

const seconds = (count: number) => new Date(count * 1000)
const isLooping = (crashes: CrashCount, at: number) => crashes.isLooping('a', at * 1000)

test('three restarts within a minute are a loop, until it has run for one', () => {
  const twice = ['start 0', 'die 1', 'start 2', 'die 3', 'start 4']
  expect(isLooping(hear(...twice), 4)).toBe(false)
  const looping = hear(...twice, 'die 5', 'start 8')
  expect(isLooping(looping, 9)).toBe(true)
  expect(isLooping(looping, 67)).toBe(true)
  expect(isLooping(looping, 69)).toBe(false)
  const slow = hear('start 0', 'die 1', 'start 31', 'die 32', 'start 63', 'die 64', 'start 95')
  expect(isLooping(slow, 95)).toBe(false)
})

test('who stops or restarts a container by hand makes no loop', () => {
  const restart = (at: number) => [`die ${at}`, `stop ${at}`, `start ${at + 1}`]
  expect(isLooping(hear('start 0', ...[2, 4, 6, 8].flatMap(restart)), 9)).toBe(false)
  const stopped = hear('start 0', 'die 1', 'start 2', 'die 3', 'start 4', 'die 5', 'start 6')
  expect(isLooping(stopped, 6)).toBe(true)
  stopped.hear({ id: 'a', action: 'stop', time: seconds(7), attributes: {} })
  expect(isLooping(stopped, 7)).toBe(false)
})

test('a process that finishes with success and is started again makes no loop, and ends one', () => {
  const rounds = Array.from({ length: 20 }, (_, n) => [`start ${n * 2}`, `finish ${n * 2 + 1}`])
  const polling = hear(...rounds.flat(), 'start 40')
  expect(isLooping(polling, 40)).toBe(false)
  expect(polling.restartsOf('a')).toBe(0)
  const failing = ['die 41', 'start 42', 'die 43', 'start 44', 'die 45', 'start 46']
  const looping = hear(...rounds.flat(), 'start 40', ...failing)
  expect(isLooping(looping, 46)).toBe(true)
  expect(looping.restartsOf('a')).toBe(3)
  looping.hear({ id: 'a', action: 'die', time: seconds(47), attributes: { exitCode: '0' } })
  expect(isLooping(looping, 47)).toBe(false)
})

test('restarts far apart by the engine’s waiting are one row, those after a calm run a new one', () => {
  const row = ['start 0', 'die 1', 'start 2', 'die 3', 'start 54', 'die 55', 'start 157']
  expect(hear(...row).restartsOf('a')).toBe(3)
  expect(hear(...row, 'die 300', 'start 301').restartsOf('a')).toBe(1)
})

test('an app that crashes at once is seen to loop', async () => {
  const { t, ada } = withAda(testApp())
  listen(t)
  const { id } = await anOwn(t, ada, 'exit 1', always)
  await t.docker.startContainer(id)
  await sooner(t, async () => {
    const [container] = (await ada.get('/containers/api')).json.containers
    return container.crashLooping && container.restartCount > 1
  })
  expect((await ada.page('/containers')).text).toContain('Crash-looping')
  expect((await ada.page(`/containers/${id}`)).text).toContain('Crash-looping')
})

test('an app that crashed ten times in a row is stopped, says why, and forgets it when started', async () => {
  const { t, ada } = withAda(testApp())
  listen(t)
  const { id, deployment } = await anOwn(t, ada, 'exit 7', always)
  const path = `/projects/${deployment.projectId}/deployments/${deployment.id}`
  const stranger = await aStranger(t, 'exit 7', always)
  await t.docker.startContainer(id)
  await t.docker.startContainer(stranger)
  await sooner(t, () => t.observed.crashes.restartsOf(id) >= 3)
  const now = Date.now()
  tell(id, 'die', now)
  for (let restarts = 0; restarts < 7; restarts++)
    for (const [action, at] of [
      ['start', 1],
      ['die', 2],
    ] as const)
      tell(id, action, now + (restarts * 2 + at) * 10)

  await sooner(t, async () => (await t.docker.inspectContainer(id))!.state === 'exited')
  await sooner(t, async () => (await ada.get(path)).json.status === 'stopped')
  const { text } = await ada.page(`/containers/${id}`)
  expect(text).toContain('Davit stopped it')
  expect(text).toContain('times in a row')
  expect((await ada.page(path)).text).toContain('times in a row')
  expect((await t.docker.inspectContainer(stranger))!.state).not.toBe('exited')

  await ada.post(`/containers/${id}/restart`)
  await sooner(t, async () => (await ada.get(path)).json.error === null)

  /** As the engine would, which takes longer and longer between two starts. */
  function tell(id: string, action: string, at: number) {
    t.observed.crashes.hear({ id, action, attributes: { exitCode: '7' }, time: new Date(at) })
  }
})
