import { describe, expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { testApp, withAda } from '../support/app.ts'
import { startGitServer } from '../support/git-server.ts'
import type { Files } from '../support/git-server.ts'
import { aBuild, anApp, aProject, answerOf } from './apps.ts'
import { failureOf } from './failure-of.ts'

const { heredocs } = await connectDocker().frontend({ builder: 'auto' })
const dockerfile = (text: string): Files => ({ Dockerfile: text })

describe('cloning fails with an explanation', () => {
  test('for a branch that does not exist, with the one that does', async () => {
    const { step, code, message } = await failureOf(anApp('x'), {}, { branch: 'mian' })
    expect({ step, code }).toEqual({ step: 'cloning', code: 'unknown_branch' })
    expect(message).toContain('no branch or tag “mian”; it only has “main”')
  })

  test('for a repository that requires a password', async () => {
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

describe('building fails with an explanation', () => {
  const cases: Record<string, [Files, string, string | RegExp]> = {
    'without anything that says how': [{ 'README.md': 'x' }, 'not_recognized', 'built'],
    'with a manifest that can not be read': [
      { 'package.json': '{' },
      'manifest_invalid',
      'package.json',
    ],
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
    'with a Dockerfile beyond measure': [
      dockerfile(`FROM busybox\n${'# x\n'.repeat(70_000)}`),
      'dockerfile_too_large',
      'larger than 256 KiB',
    ],
    'with a .dockerignore that Docker refuses': [
      { ...anApp('x'), '.dockerignore': 'a\n[b\n' },
      'dockerignore_invalid',
      'Line 2 of .dockerignore isn’t a valid pattern: “[b”',
    ],
    'with arguments that double each other': [
      dockerfile(`ARG A=0123456789\n${'ARG A=$A$A\n'.repeat(60)}FROM $A\n`),
      'dockerfile_too_hard',
      'more than 1 MiB',
    ],
    'with arguments that need each other': [
      dockerfile('ARG A=$B\nARG B=$A\nFROM $A\n'),
      'dockerfile_invalid',
      'FROM $A has no image',
    ],
    'with a stage that does not exist': [
      dockerfile('FROM busybox\nCOPY --from=builder /a /a\n'),
      'base_image_not_found',
      'builder',
    ],
    ...(!heredocs && {
      'with a here-document, for an engine that knows none': [
        dockerfile('FROM busybox\nRUN <<EOF\necho a\necho b\nEOF\n'),
        'heredoc_unsupported',
        /line 2 .*<<EOF/,
      ],
    }),
    'with a script that may not be executed': [
      { ...dockerfile('FROM busybox\nCOPY x /x\nRUN chmod -x /x && /x\n'), x: '#!/bin/sh\n' },
      'not_executable',
      '/x',
    ],
    'with a file to copy that is not there': [
      dockerfile('FROM busybox\nCOPY dist /www\n'),
      'copy_source_missing',
      'dist',
    ],
    'with a command that fails': [aBuild('echo no; exit 3'), 'build_command_failed', 'exit code 3'],
    'with a command that is killed': [
      aBuild("sh -c 'kill -9 $$'; exit $?"),
      'killed',
      /RUN.*possibly because it ran out of memory/,
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

test('a line of 40,000 characters of a build is cut once, and each piece has its step', async () => {
  const { log } = await failureOf(aBuild("head -c 40000 /dev/zero | tr '\\0' x; exit 1"))
  const pieces = log.filter((line) => /x{100}/.test(line) && !line.includes('ERROR'))
  for (const piece of pieces) expect(piece).toMatch(/^#\d+ (?:\d+\.\d+ )?x+$/)
  expect(pieces.map((piece) => piece.length).slice(0, -1)).toEqual([16_384, 16_384])
  expect(pieces.join('').replace(/[^x]/g, '')).toHaveLength(40_000)
})

test('a failure of any step leaves what runs as it is', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, anApp('first'))
  const first = await project.deploy()

  await project.deploy({ branch: 'nowhere' })
  await project.deployFiles(aBuild('exit 1'))

  expect(await answerOf(first)).toBe('first')
  const container = await t.docker.inspectContainer(first.containerId)
  expect(container).toMatchObject({ state: 'running', restartCount: 0 })
  expect((await ada.get(`/projects/${project.id}/deployments/${first.id}`)).json.status).toBe(
    'running',
  )
})
