import { expect, test } from 'bun:test'
import { explainStep, explainWritten } from '../../src/deployments/explain.ts'
import { isClue } from '../../src/docker/build-output.ts'
import { BuildError } from '../../src/docker/index.ts'

const codeOf = (clue: string) =>
  explainStep(
    new BuildError('process "/bin/sh -c x" did not complete successfully: exit code: 1', { clue }),
    'building',
  ).code

test.each([
  [
    'lock_file_outdated',
    [
      'npm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.',
      ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with <ROOT>/package.json',
      'error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.',
      '➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.',
      'error: lockfile had changes, but lockfile is frozen',
      'error: The lockfile is out of date. Run `deno install --frozen=false`, or rerun with `--frozen=false` to update it.',
      'error: the lock file /app/Cargo.lock needs to be updated but --locked was passed to prevent this',
      'error: cannot update the lock file /app/Cargo.lock because --locked was passed to prevent this',
      'error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided. To update the lockfile, run `uv lock`.',
      'pyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock` to fix the lock file.',
      "The dependencies in your gemfile changed, but the lockfile can't be updated",
      'go: inconsistent vendoring in /src:',
      '- Required package "monolog/monolog" is not present in the lock file.',
      'main.go:4:2: missing go.sum entry for module providing package github.com/gin-gonic/gin',
    ],
  ],
  [
    'build_variable_missing',
    [
      'Error: Missing required environment variable: STRIPE_KEY',
      'PrismaConfigEnvError: Cannot resolve environment variable: DATABASE_URL.',
      'error: Environment variable not found: DATABASE_URL.',
      '❌ Invalid environment variables: [ { path: [ "API_URL" ] } ]',
      'Error: The environment variable API_URL is required',
    ],
  ],
  ['killed', ['sh: line 1: 12 Killed']],
])('%s is what these lines of a build that failed mean', (code, lines) => {
  for (const line of lines) expect([line, isClue(line), codeOf(line)]).toEqual([line, true, code])
})

test.each([
  'warning: the environment variable FOO is deprecated',
  'Creating an optimized production build of the lock file viewer',
  'added 12 packages, and audited 13 packages in 1s',
])('a line that explains nothing isn’t taken for the reason: %s', (line) => {
  expect(isClue(line)).toBe(false)
})

test('what failed in a Dockerfile that Davit wrote is changed in what it was written from', () => {
  const error = new BuildError('process "/bin/sh -c x" did not complete successfully: exit code: 1')
  const own = explainStep(error, 'building')
  const written = explainWritten(error)
  expect(written).toMatchObject({ code: own.code, message: own.message })
  expect(written).not.toMatchObject({ hint: own.hint })
  const other = new Error('of another step')
  expect(explainWritten(other)).toBe(other)
})
