import { describe, expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
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

  /** The first bytes of a program for that processor, which asks for that loader. */
  function program({ machine, loader = '' }: { machine: number; loader?: string }) {
    const file = Buffer.alloc(256)
    file.write('\x7fELF\x02\x01\x01', 'latin1')
    for (const [value, at] of [
      [2, 16],
      [machine, 18],
      [64, 54],
      [56, 54],
      [1, 56],
    ])
      file.writeUInt16LE(value!, at!)
    file.writeBigUInt64LE(64n, 32)
    if (loader === '') return file
    file.writeUInt32LE(3, 64)
    file.writeBigUInt64LE(128n, 72)
    file.writeBigUInt64LE(BigInt(loader.length + 1), 96)
    file.write(loader, 128)
    return file
  }

  /** Has the image have it as `/start`. */
  const start = (file: string | Buffer) =>
    `RUN echo ${Buffer.from(file).toString('base64')} | base64 -d > /start && chmod +x /start`

  const [x64, arm64] = [62, 183]
  const crlf = '#!/bin/sh\r\nexec sleep 99\r\n'
  /** What is started, by which command, the code, and what the sentence says. */
  const starts: [
    what: string,
    file: string | Buffer,
    command: string,
    code: string,
    said: string,
  ][] = [
    ['a script with Windows line endings', crlf, '["/start"]', 'windows_line_endings', '/start'],
    ['one by a shell', crlf, './start', 'windows_line_endings', './start'],
    [
      'one in a shell',
      'set -e\r\nexec sleep 9x\r\n',
      '["sh", "/start"]',
      'windows_line_endings',
      '/start',
    ],
    ['one by env', '#!/usr/bin/env sh\r\n', '["/start"]', 'windows_line_endings', '/start'],
    [
      'a script without its interpreter',
      '#!/bin/bash\n',
      '["/start"]',
      'interpreter_missing',
      '/bin/bash',
    ],
    [
      'one that a script starts',
      '#!/bin/bash\n',
      'cd / && exec ./start',
      'interpreter_missing',
      '/bin/bash',
    ],
    [
      'one by env',
      '#!/usr/bin/env -S python3 -u\n',
      '["/start"]',
      'interpreter_missing',
      'python3',
    ],
    [
      'a program without its loader',
      program({ machine: x64, loader: '/lib/ld-x' }),
      '["/start"]',
      'loader_missing',
      '/lib/ld-x',
    ],
    [
      'a program for another processor',
      program({ machine: arm64 }),
      '["/start"]',
      'wrong_architecture',
      'arm64',
    ],
    [
      'one that a shell starts',
      program({ machine: arm64 }),
      '/start',
      'wrong_architecture',
      'arm64',
    ],
    ['a script that isn’t there', 'x', './start.sh', 'command_not_found', './start.sh'],
    ['one by a shell', 'x', '["sh", "start.sh"]', 'command_not_found', 'start.sh'],
    ['a folder as interpreter', '#!/etc\n', '["/start"]', 'not_executable', 'needs /etc'],
    ['a program of root', '#!/bin/sh\n', 'USER', 'not_executable', 'by 1000'],
    ['a folder', 'x', '["/etc"]', 'not_executable', '/etc is a folder'],
  ]
  test.each(starts)(
    'of %s %#: what the system says of it is not the cause',
    async (_, file, command, code, said) => {
      const line =
        command === 'USER' ? 'RUN chmod 700 /start\nUSER 1000\nCMD ["/start"]' : `CMD ${command}`
      const failure = await failureOf(dockerfile(`FROM busybox\n${start(file)}\n${line}\n`))
      expect({ step: failure.step, code: failure.code }).toEqual({ step: 'deploying', code })
      expect(failure.message).toContain(said)
    },
  )

  test('of a script that may not be executed', async () => {
    const text = `FROM busybox\n${start('#!/bin/sh\n')}\nRUN chmod -x /start\nCMD ["/start"]\n`
    const failure = await failureOf(dockerfile(text))
    expect(failure.code).toBe('not_executable')
    expect(failure.message).toContain('/start may not be executed')
  })

  test('of a release command that has Windows line endings', async () => {
    const files = dockerfile(`FROM busybox\n${start(crlf)}\nCMD ["sleep", "99"]\n`)
    const failure = await failureOf(files, { releaseCommand: ['/start'] })
    expect(failure).toMatchObject({ step: 'releasing', code: 'windows_line_endings' })
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
    expect(message).toContain('16 MiB')
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
    const { t, ada } = withAda(testApp())
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
