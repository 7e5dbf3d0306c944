import { BuildError, EngineError, saidOf } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { explain } from '../runtime/explain.ts'
import type { Rule } from '../runtime/explain.ts'
import { bytes } from '../web/units.ts'
import type { StepName } from './progress.ts'

const failed: Record<StepName, string> = {
  cloning: 'Clone failed',
  building: 'Build failed',
  pulling: 'Pull failed',
  releasing: 'Release command failed',
  deploying: 'Start failed',
}

/** Turns a step's error into a code, a sentence and a next step. */
export const explainStep = (error: unknown, step: StepName | null): Failure =>
  explain(error, {
    subject: 'environment',
    what: step ? failed[step] : 'Preparation failed',
    ...(step === 'building' && { rules: buildRules, otherwise: 'build_failed' }),
  })

/** No one changes a Dockerfile that Davit wrote, but what it was written from. */
export function explainWritten(error: unknown) {
  const isBase = error instanceof Failure && error.code === 'base_image_not_found'
  if (!isBase && !(error instanceof EngineError)) return error
  const { code, message, hint } = explainStep(error, 'building')
  return new Failure(code, message, written[code] ?? hint, { cause: error })
}

const set = 'in the project’s settings, under Without a Dockerfile'
const written: Record<string, string> = {
  base_image_not_found: `Davit wrote the Dockerfile for the version that the repository asks for. Ask for one that exists, there or ${set}, and check that the server can reach the registry.`,
  build_command_failed: `See the last lines of the log. Davit wrote the Dockerfile: correct what the command works on, or set another command, version or packages of the system ${set}.`,
  command_not_found: `Davit wrote the Dockerfile: check the command, or add the package of Debian that has the program, ${set}.`,
  copy_source_missing: `Davit wrote the Dockerfile: a build leaves its files elsewhere, or a .dockerignore excludes them. Set the output directory or the build command ${set}.`,
}

const lessMemory =
  'Reduce the memory use of the build. The operator can allow more with DAVIT_BUILD_MEMORY.'

/** Error messages of BuildKit and of the classic builder. */
const buildRules: Rule[] = [
  {
    seen: /OOMKilled|cannot allocate memory/i,
    code: 'out_of_memory',
    message: (_, error) => `${stepOf(error)} ran out of memory${capOf(error)}.`,
    hint: lessMemory,
  },
  {
    seen: /exit code: 137|non-zero code: 137|\bkilled$|killed signal|signal: killed|SIGKILL|Error 137$/i,
    code: 'killed',
    message: (_, error) =>
      `${stepOf(error)} was killed, possibly because it ran out of memory${capOf(error)}.`,
    hint: `${lessMemory} If it was killed by hand, deploy again.`,
  },
  {
    seen: saidOf.outdatedLock,
    code: 'lock_file_outdated',
    message: (_, error) =>
      `the lock file doesn’t fit what it locks, in ${stepOf(error)}${clueOf(error)}.`,
    hint: 'Install on your machine with the same package manager, and commit its lock file.',
  },
  {
    seen: saidOf.missingVariable,
    code: 'build_variable_missing',
    message: (_, error) => `${stepOf(error)} needs a variable${clueOf(error)}.`,
    hint: 'Add it under Variables, for the build.',
  },
  {
    seen: /(?:exit code|non-zero code): 127/,
    code: 'command_not_found',
    message: (_, error) => `a command of ${stepOf(error)} was not found.`,
    hint: 'Install the program in an earlier step of the Dockerfile, or check its name. If it is a script that is there, its first line names a program that isn’t, or it has Windows line endings (CRLF): save it with LF.',
  },
  {
    seen: /(?:exit code|non-zero code): 126/,
    code: 'not_executable',
    message: (_, error) => `a command of ${stepOf(error)} can’t be executed.`,
    hint: 'Make the file executable (chmod +x) and commit that, or run it with sh.',
  },
  {
    seen: /dockerfile parse error[^:]*: (.+)|(unknown instruction: .+)/i,
    code: 'dockerfile_invalid',
    message: ([, parse, unknown]) =>
      `the Dockerfile can’t be read: ${(parse ?? unknown)!.replace(/\.$/, '')}.`,
    hint: 'Fix the line it names, commit and deploy again.',
  },
  {
    seen: /file with no instructions|Dockerfile .*cannot be empty|no build stage in current context/i,
    code: 'dockerfile_invalid',
    message: () => 'the Dockerfile doesn’t begin with FROM, or is empty.',
    hint: 'Start it with FROM and a base image.',
  },
  {
    seen: /base name \((.*?)\) should not be blank/i,
    code: 'dockerfile_invalid',
    message: ([, name]) => `FROM ${name} has no image, because the variable is empty.`,
    hint: 'Set a default for the ARG before FROM, or add a build argument with that name to the project.',
  },
  {
    seen: /target stage "?([^"\s]+)"? could not be found/,
    code: 'dockerfile_invalid',
    message: ([, stage]) => `the Dockerfile has no stage ${stage}.`,
    hint: 'Fix the name of the stage in the Dockerfile.',
  },
  {
    seen: /\/v2\/(?:library\/)?(?<path>\S+?)\/manifests\/(?<tag>[^\s":]+)|(?:pull access denied for|manifest for|docker\.io\/library\/) ?(?<name>[^\s,:]+(?::[\w.-]+)?)|Get "https?:\/\/[^"]+\/v2\/"/,
    code: 'base_image_not_found',
    message: ({ groups: { path, tag, name } = {}, input }, error) => {
      const named = name ?? (path && `${path}:${tag}`) ?? `of ${stepOf(error)}`
      const why = input.trim().split(': ').at(-1)!.replace(/\.$/, '')
      return `the image ${named} couldn’t be pulled (${why}).`
    },
    hint: 'Check the names after FROM and --from, and that the server can reach the registry. A private registry needs a login under Settings, Registries.',
  },
  {
    seen: /not a git repository|(?:failed to compute cache key|failed to calculate checksum|COPY failed|ADD failed)[^\n]*?["/\s]\.git(?:["/:\s]|$)/i,
    code: 'git_directory_missing',
    message: (_, error) => `${stepOf(error)} needs .git, which isn’t in the build context.`,
    hint: 'Turn on “Git directory” in the project’s build settings. The .dockerignore must not exclude .git, and the Dockerfile must copy it.',
  },
  {
    seen: /(?:failed to compute cache key|failed to calculate checksum|COPY failed|ADD failed)[^\n]*?(?:"([^"\n]+)"|stat ([^\s:]+)|$)/i,
    code: 'copy_source_missing',
    message: ([, named, path]) =>
      `${named ?? path ?? 'a file'}, used by COPY or ADD, isn’t in the build context.`,
    hint: 'Check the path after COPY or ADD against the repository, the context directory and .dockerignore.',
  },
  {
    seen: /exec format error/i,
    code: 'wrong_architecture',
    message: () => 'a program in the image is for another processor architecture.',
    hint: 'Use a base image for this server’s architecture.',
  },
  {
    seen: /(?:exit code|non-zero code): (\d+)/,
    code: 'build_command_failed',
    message: ([, exitCode], error) => `${stepOf(error)} failed with exit code ${exitCode}.`,
    hint: 'See the last lines of the log. Fix the command, commit and deploy again.',
  },
]

const stepOf = (error: Error) =>
  error instanceof BuildError && error.step ? `the step “${inShort(error.step)}”` : 'a step'

/** A step's name has the whole text of the command, which can be a script. */
const inShort = (step: string) => (step.length > 120 ? `${step.slice(0, 120)}…` : step)

const clueOf = (error: Error) =>
  error instanceof BuildError && error.clue
    ? `: “${inShort(error.clue.trim().replace(/\.$/, ''))}”`
    : ''

const capOf = (error: Error) =>
  error instanceof BuildError && error.memoryCap !== null
    ? `: a build may use ${bytes(error.memoryCap)}`
    : ''
