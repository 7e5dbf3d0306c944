import { expect, test } from 'bun:test'
import { explainStep } from '../../src/deployments/explain.ts'
import { EngineError } from '../../src/docker/index.ts'
import { AppError, Failure } from '../../src/platform/errors.ts'
import { collect, sandbox } from '../docker/sandbox.ts'
import { tarContext } from '../support/images.ts'

const { docker, tag } = sandbox()

/** Why the classic builder can not build this; what BuildKit says is tested by deploying. */
async function classicFailure(Dockerfile: string) {
  const context = tarContext({ Dockerfile })
  const options = { context, dockerfile: 'Dockerfile', tag: tag(), builder: 'classic' } as const
  const error = await collect(docker.buildImage(options)).catch((error) => error)
  return explainStep(error, 'building')
}

const noGit = 'fatal: not a git repository (or any of the parent directories): .git'

const classic: [string, string, string | RegExp][] = [
  ['FROM davit-no-such-image:1.2\n', 'base_image_not_found', 'davit-no-such-image'],
  ['FROM busybox\nRUNN make\n', 'dockerfile_invalid', 'RUNN'],
  ['', 'dockerfile_invalid', 'FROM'],
  ['RUN make\n', 'dockerfile_invalid', 'FROM'],
  ['FROM busybox\nCOPY dist /www\n', 'copy_source_missing', 'dist'],
  ['FROM busybox\nCOPY .git /www\n', 'git_directory_missing', 'COPY .git'],
  ['FROM busybox\nCOPY x/.github /www\n', 'copy_source_missing', '.github'],
  [`FROM busybox\nRUN echo '${noGit}'; exit 128\n`, 'git_directory_missing', 'RUN'],
  ['FROM busybox\nRUN makee\n', 'command_not_found', 'RUN makee'],
  ['FROM busybox\nRUN exit 3\n', 'build_command_failed', /RUN exit 3.* exit code 3/],
  ["FROM busybox\nRUN sh -c 'kill -9 $$'; exit $?\n", 'killed', /RUN.*possibly/],
]
for (const [dockerfile, code, words] of classic)
  test(`the classic builder's refusal of ${JSON.stringify(dockerfile)} is explained`, async () => {
    const failure = await classicFailure(dockerfile)
    expect(failure).toMatchObject({ code, message: expect.stringMatching(words) })
  })

test('a full disk is named in every step', () => {
  const error = new EngineError(500, 'write /var/lib/docker/x: no space left on device')
  for (const step of ['building', 'deploying'] as const)
    expect(explainStep(error, step).code).toBe('disk_full')
})

test('what a step knows already stays as it is', () => {
  const failure = new Failure('x', 'Y.', 'Z.')
  expect(explainStep(failure, 'cloning')).toBe(failure)
})

test('a refused address keeps its words', () => {
  const failure = explainStep(new AppError('invalid', 'The host is private.'), 'cloning')
  expect(failure).toMatchObject({ code: 'refused', message: 'Clone failed: The host is private.' })
})

test('what no rule knows is quoted without the layers that it came through', () => {
  const error = new EngineError(500, 'failed to solve: failed to do a: the moon is full.')
  expect(explainStep(error, 'building')).toMatchObject({
    code: 'build_failed',
    message: 'Build failed: Docker says: the moon is full.',
  })
})

test('a bug of ours shows nothing of itself', () => {
  const failure = explainStep(new Error('undefined is not a function'), null)
  expect(failure.code).toBe('internal')
  expect(failure.message + failure.hint).not.toContain('undefined')
})
