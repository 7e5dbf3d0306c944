import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { testApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { aBuild, anApp, aProject, finished } from './apps.ts'
import { logs } from './events.ts'

/** Whether some process of this machine has that argument. */
const isAtWork = (argument: string) =>
  readdirSync('/proc').some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
    } catch {
      return false // it is no process, or has ended
    }
  })

/** Milliseconds; a busy machine needs most of them before a command of the build runs. */
const buildTimeout = 20_000

function aDavitWithLittlePatience(env: Record<string, string> = {}) {
  const t = testApp(env, { config: { buildTimeout } })
  return { t, ada: t.logIn('ada@example.com') }
}

describe.each(['buildkit', 'classic'])('a build that hangs, with %s,', (builder) => {
  test('is ended on the engine when its time is over, and gives its place to the next', async () => {
    const { t, ada } = aDavitWithLittlePatience({ DAVIT_BUILDER: builder })
    const seconds = String(1_000_000 + Math.floor(Math.random() * 1_000_000))
    const hanging = await aProject(t, ada, aBuild(`sleep ${seconds}`), { name: 'hanging' })
    const next = await aProject(t, ada, anApp('next'), { name: 'next', port: 0 })
    const first = await hanging.trigger()
    await logs(ada, first, 'RUN')
    await until(() => isAtWork(seconds))
    const second = await next.trigger()

    const { status, error } = await finished(ada, first)

    expect(status).toBe('failed')
    expect(error).toMatchObject({ step: 'building', code: 'build_timeout' })
    expect(error.message).toContain('took longer than')
    expect(error.hint).toContain('DAVIT_BUILD_TIMEOUT')
    await until(() => !isAtWork(seconds))
    expect((await finished(ada, second)).status).toBe('running')
    const labels = [`davit.deployment=${first.id}`]
    expect(await t.docker.listContainers({ labels, all: true })).toEqual([])
    expect(await t.docker.listImages({ labels })).toEqual([])
  })
})

test('what is built in time may take as long as it needs to start', async () => {
  const { t, ada } = aDavitWithLittlePatience()
  const slowToStart = await aProject(t, ada, {
    Dockerfile: `FROM busybox\nEXPOSE 8080\nCMD ["sh", "-c", "sleep ${buildTimeout / 1000 + 1}; httpd -f -p 8080 -h /etc"]\n`,
  })
  expect((await slowToStart.deploy()).status).toBe('running')
})
