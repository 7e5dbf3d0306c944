import { describe, expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { healthCheckPassed } from '../../src/runtime/steps/gate.ts'
import { testApp, withAda } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { engineOverTcp } from '../docker/over-tcp.ts'
import { aProject, cancel, logOf } from './apps.ts'
import { logs } from './events.ts'
import { failureOf } from './failure-of.ts'

/** An app that is ready some time after it first answers. */
const slowly = 'httpd -p 8080; sleep 1; touch /tmp/ready; exec sleep 999'

const checked = (healthcheck: string, script = slowly): Files => ({
  Dockerfile: [
    'FROM busybox',
    'EXPOSE 8080',
    `HEALTHCHECK ${healthcheck}`,
    `CMD ${JSON.stringify(['sh', '-c', script])}`,
  ].join('\n'),
})

const ready = checked('--interval=1h CMD test -f /tmp/ready')

/** A deployment that runs, and its log. */
async function running(
  files: Files,
  { port, remote = false }: { port?: number; remote?: boolean },
) {
  const t = testApp({}, remote ? { docker: connectDocker({ host: engineOverTcp() }) } : {})
  expect(t.deps.docker.remote).toBe(remote)
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, files, {
    healthTimeout: 30,
    ...(port !== undefined && { port }),
  })
  const begun = performance.now()
  const deployment = await project.deploy()
  expect(deployment.error).toBeNull()
  expect(deployment.status).toBe('running')
  return { log: await logOf(ada, deployment), seconds: (performance.now() - begun) / 1000 }
}

describe('the HEALTHCHECK of an image', () => {
  test('is waited for beside the probe, and its interval delays nothing', async () => {
    const { log } = await running(ready, {})
    const first = log.findIndex((line) => line.startsWith('It responded after'))
    const passed = log.findIndex((line) => line.startsWith(healthCheckPassed))
    expect(first).toBeGreaterThan(0)
    expect(passed).toBeGreaterThan(first)
  })

  test('counts for a worker too', async () => {
    const { log } = await running(ready, { port: 0 })
    expect(log.join('\n')).toContain(healthCheckPassed)
  })

  test('counts on an engine elsewhere, whose containers can’t be reached', async () => {
    const { log } = await running(ready, { remote: true })
    expect(log.join('\n')).toContain(healthCheckPassed)
    expect(log.join('\n')).not.toContain('It responded after')
  })

  test('that is NONE counts for nothing', async () => {
    const { log } = await running(checked('NONE'), {})
    expect(log.join('\n')).not.toContain('HEALTHCHECK')
  })

  test('that fails is quoted, without the secrets in what it says', async () => {
    const { t, ada } = withAda(testApp())
    const files = checked('CMD echo connecting; echo "refused with $TOKEN"; exit 4')
    const project = await aProject(t, ada, files, { healthTimeout: 3 })
    await project.set({ key: 'TOKEN', value: 'a-very-secret-token', secret: true })
    const deployment = await project.deploy()
    expect(deployment.error).toMatchObject({
      step: 'deploying',
      code: 'unhealthy',
      message:
        'Start failed: the health check of the app didn’t pass within 3 s (exit code 4: refused with ***).',
      hint: expect.stringContaining('health timeout'),
    })
    const log = await logOf(ada, deployment)
    expect(log).toContain('connecting')
    expect(log.join('\n')).not.toContain('a-very-secret-token')
  })

  test('whose program is not in the image says so', async () => {
    const { code, hint } = await failureOf(checked('CMD curl -f http://127.0.0.1:8080'))
    expect(code).toBe('unhealthy')
    expect(hint).toContain('must be in the image')
  })

  test('of an app that ends meanwhile does not hide why it ended', async () => {
    const { code, message } = await failureOf(
      checked('CMD false', 'httpd -p 8080; sleep 2; exit 7'),
      { healthTimeout: 30 },
    )
    expect(code).toBe('exited')
    expect(message).toContain('exited with code 7')
  })

  test('does not hide that nothing listens', async () => {
    const { code } = await failureOf(checked('CMD false', 'exec sleep 999'))
    expect(code).toBe('no_answer')
  })

  test('is ended by a cancel', async () => {
    const { t, ada } = withAda(testApp())
    const project = await aProject(t, ada, checked('CMD sleep 999'), { healthTimeout: 300 })
    const deployment = await project.trigger()
    await logs(ada, deployment, 'It responded after')
    expect((await cancel(ada, deployment)).json.status).toBe('cancelled')
  })
})
