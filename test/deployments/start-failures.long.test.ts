import { describe, expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import type { Files } from '../support/git-server.ts'
import { aCommand, anApp, aProject } from './apps.ts'
import { failureOf } from './failure-of.ts'

const dockerfile = (text: string): Files => ({ Dockerfile: text })

describe('starting fails with an explanation', () => {
  test('when the app ends at once with an error, with its last lines in the log', async () => {
    const script = 'for i in $(seq 1000); do echo line $i; done; echo broken; exit 1'
    const { step, code, message, log } = await failureOf(aCommand(script))
    expect({ step, code }).toEqual({ step: 'deploying', code: 'exited' })
    expect(message).toContain('exited with code 1')
    const last = log.slice(log.indexOf('Its last 40 lines:') + 1, -1)
    expect(last).toHaveLength(40)
    expect(last.slice(-2)).toEqual(['line 1000', 'broken'])
    expect(log).not.toContain('line 600')
  })

  test('when the app ends at once without one', async () => {
    const { code, message } = await failureOf(aCommand('exit 0'))
    expect(code).toBe('exited')
    expect(message).toContain('finished at once')
  })

  test('when its command is not found', async () => {
    const { code } = await failureOf(aCommand('no-such-program'))
    expect(code).toBe('command_not_found')
  })

  test('when the image names a command that it does not have', async () => {
    const files = dockerfile('FROM busybox\nCMD ["/app/server"]\n')
    const { code, log } = await failureOf(files)
    expect(code).toBe('command_not_found')
    expect(log.join('\n')).toContain('/app/server')
  })

  test('when the image names a user that it does not have', async () => {
    const { code } = await failureOf(dockerfile('FROM busybox\nUSER nobody2\nCMD ["sh"]\n'))
    expect(code).toBe('unknown_user')
  })

  test('when the image has no command', async () => {
    const { code } = await failureOf(dockerfile('FROM busybox\nCMD []\n'))
    expect(code).toBe('no_command')
  })

  test('when the app needs more memory than it has', async () => {
    const script = 'sleep 1; x=a; while true; do x=$x$x; done'
    const { code, message } = await failureOf(aCommand(script), { memoryMb: 16 })
    expect(code).toBe('out_of_memory')
    expect(message).toContain('16 MB')
  })

  test('when the app is killed by someone else, which is not a lack of memory', async () => {
    const { code, message } = await failureOf(aCommand('kill -9 $$'))
    expect(code).toBe('killed')
    expect(message).toContain(
      'exited with code 137: it was killed (SIGKILL), but not for its memory limit',
    )
  })

  test('when it asks for more processors than there are', async () => {
    const { code, message } = await failureOf(anApp('x'), { cpus: 500 })
    expect(code).toBe('too_many_cpus')
    expect(message).toMatch(/has \d+ processors/)
  })

  test('when the app listens on 127.0.0.1 only', async () => {
    const failure = await failureOf(aCommand('exec httpd -f -p 127.0.0.1:8080'))
    expect(failure.code).toBe('no_answer')
    expect(failure.message).toContain('port 8080')
    expect(failure.message).toContain('connection refused')
    expect(failure.hint).toContain('0.0.0.0')
  })

  test('when the app listens on another port', async () => {
    const failure = await failureOf(aCommand('exec httpd -f -p 9999'), { port: 4000 })
    expect(failure.code).toBe('no_answer')
    expect(failure.message).toContain('port 4000')
  })

  test('when the health path answers with an error', async () => {
    const failure = await failureOf(anApp('x'), { healthPath: '/health' })
    expect(failure.code).toBe('no_answer')
    expect(failure.message).toContain('path /health')
    expect(failure.message).toContain('status 404')
  })

  test('when something else has the port of the host', async () => {
    const t = testApp()
    const ada = t.logIn('ada@example.com')
    const project = await aProject(t, ada, anApp('x'))
    const port = project.hostPort
    using _ = Bun.listen({ hostname: '127.0.0.2', port, socket: { data() {} } })
    const { error } = await project.deploy()
    expect(error.code).toBe('port_in_use')
    expect(error.message).toContain(String(port))
  })

  test('when the app ends soon after it first answered', async () => {
    const app = aCommand('httpd -p 8080; usleep 500000; exit 7')
    const { code, message } = await failureOf(app)
    expect(code).toBe('exited')
    expect(message).toContain('exited with code 7')
  })
})
