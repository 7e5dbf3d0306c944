import { describe, expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { startGitServer } from '../support/git-server.ts'
import type { Files } from '../support/git-server.ts'
import { aBuild, aCommand, anApp, aProject, answerOf, logOf } from './apps.ts'

type Error = { step: string; code: string; message: string; hint: string }

/** Deploys the files once and returns why it failed, and its log. */
async function failureOf(
  files: Files,
  settings: Parameters<typeof aProject>[3] = {},
  asked = {},
  env: Record<string, string> = {},
) {
  const t = testApp(env)
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, files, { healthTimeout: 2, ...settings })
  const deployment = await project.deploy(asked)
  expect(deployment.status).toBe('failed')
  expect(deployment.finishedAt).toBeString()
  expect(deployment).toMatchObject({ containerId: null, image: null })
  expect(await t.docker.listContainers({ labels: [label(t)], all: true })).toEqual([])
  expect(await t.docker.listImages({ labels: [label(t)] })).toEqual([])
  const { error } = deployment as { error: Error }
  for (const text of [error.message, error.hint]) expect(text).toMatch(/^[A-Z“].*\.$/)
  const log = await logOf(ada, deployment)
  expect(log.at(-1)).toBe(`Failed: ${error.message} ${error.hint}`)
  return { ...error, log, deployment }
}

const label = ({ instanceId }: { instanceId: string }) => `davit.instance=${instanceId}`

const dockerfile = (text: string): Files => ({ Dockerfile: text })

describe('cloning fails in words', () => {
  test('for a branch that does not exist, with the nearest one', async () => {
    const { step, code, message } = await failureOf(anApp('x'), {}, { branch: 'mian' })
    expect({ step, code }).toEqual({ step: 'cloning', code: 'unknown_branch' })
    expect(message).toContain('no branch “mian”; the nearest is “main”')
  })

  test('for a repository that wants a password', async () => {
    const server = startGitServer('/nowhere')
    server.mode = 'unauthorized'
    const { code, message } = await failureOf(anApp('x'), { url: `${server.url}app.git` })
    server.stop()
    expect(code).toBe('authentication')
    expect(message).toContain('app.git')
  })

  test('for a server that is not there', async () => {
    const server = startGitServer('/nowhere')
    server.stop()
    const { step, code } = await failureOf(anApp('x'), { url: `${server.url}app.git` })
    expect({ step, code }).toEqual({ step: 'cloning', code: 'host_unreachable' })
  })
})

describe('building fails in words', () => {
  const cases: Record<string, [Files, string, string | RegExp]> = {
    'without a Dockerfile': [{ 'package.json': '{}' }, 'no_dockerfile', 'package.json'],
    'with a base image that nobody has': [
      dockerfile('FROM davit-no-such-image:1.2.3\nCMD ["sh"]\n'),
      'base_image_not_found',
      'davit-no-such-image',
    ],
    'with a Dockerfile that can not be read': [
      dockerfile('FROM busybox\nRUNN make\n'),
      'dockerfile_invalid',
      'RUNN',
    ],
    'with an empty Dockerfile': [dockerfile('\n'), 'dockerfile_invalid', 'FROM'],
    'with a stage that does not exist': [
      dockerfile('FROM busybox\nCOPY --from=builder /a /a\n'),
      'base_image_not_found',
      'builder',
    ],
    'with a file to copy that is not there': [
      dockerfile('FROM busybox\nCOPY dist /www\n'),
      'copy_source_missing',
      'dist',
    ],
    'with a command that fails': [aBuild('echo no; exit 3'), 'build_command_failed', 'exit code 3'],
    'with a command that is killed': [
      aBuild("sh -c 'kill -9 $$'; exit $?"),
      'out_of_memory',
      'RUN',
    ],
    'with a command that is not there': [aBuild('makee'), 'command_not_found', 'makee'],
  }
  for (const [name, [files, code, words]] of Object.entries(cases))
    test(name, async () => {
      const failure = await failureOf(files)
      expect(failure).toMatchObject({
        step: 'building',
        code,
        message: expect.stringMatching(words),
      })
    })
})

describe('starting fails in words', () => {
  test('when the app ends at once with an error, with its last lines in the log', async () => {
    const script = 'for i in $(seq 1000); do echo line $i; done; echo broken; exit 1'
    const { step, code, message, log } = await failureOf(aCommand(script))
    expect({ step, code }).toEqual({ step: 'deploying', code: 'exited' })
    expect(message).toContain('exit code 1')
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
    const script = 'x=a; while true; do x=$x$x; done'
    const { code, message } = await failureOf(aCommand(script), { memoryMb: 16 })
    expect(code).toBe('out_of_memory')
    expect(message).toContain('16 MB')
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
    using _ = Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } })
    const { error } = await project.deploy()
    expect(error.code).toBe('port_in_use')
    expect(error.message).toContain(String(port))
  })

  test('when the app ends soon after it first answered', async () => {
    const app = aCommand('httpd -p 8080; usleep 500000; exit 7')
    const { code, message } = await failureOf(app, {}, {}, { DAVIT_SETTLE_TIME: '3' })
    expect(code).toBe('exited')
    expect(message).toContain('exit code 7')
  })
})

test('a failure of any step leaves what runs as it is', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()

  await project.deploy({ branch: 'nowhere' })
  project.repository.commit(aBuild('exit 1'))
  await project.deploy()

  expect(await answerOf(first)).toBe('first')
  const container = await t.docker.inspectContainer(first.containerId)
  expect(container).toMatchObject({ state: 'running', restartCount: 0 })
  expect((await ada.get(`/projects/${project.id}/deployments/${first.id}`)).json.status).toBe(
    'running',
  )
})
