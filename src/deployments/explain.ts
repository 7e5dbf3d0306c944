import { BuildError, EngineError } from '../docker/index.ts'
import { AppError, Failure } from '../errors.ts'
import type { StepName } from './progress.ts'

type Rule = {
  /** Looked for in the engine's own words. */
  seen: RegExp
  code: string
  message: (match: RegExpExecArray, error: Error) => string
  hint: string
}

const diskFull: Rule = {
  seen: /no space left on device/i,
  code: 'disk_full',
  message: () => 'The disk of the server is full.',
  hint: 'Free some space (docker system df shows what takes it), then deploy again.',
}

/** From what an engine says during a build to words and a next step; the first rule that fits counts. */
const buildRules: Rule[] = [
  diskFull,
  {
    seen: /exit code: 137|non-zero code: 137|signal: killed|OOMKilled/i,
    code: 'out_of_memory',
    message: (_, error) => `Building: ${stepOf(error)} was killed, most likely out of memory.`,
    hint: 'Let the build need less memory, or give the server more (or swap).',
  },
  {
    seen: /(?:exit code|non-zero code): 127/,
    code: 'command_not_found',
    message: (_, error) => `Building: a command of ${stepOf(error)} was not found.`,
    hint: 'Install the program in an earlier step of the Dockerfile, or check its name.',
  },
  {
    seen: /dockerfile parse error[^:]*: (.*)|(unknown instruction: .*)|(the Dockerfile .* cannot be empty)/i,
    code: 'dockerfile_invalid',
    message: ([, parse, unknown, empty]) =>
      `Building: the Dockerfile can not be read: ${parse ?? unknown ?? empty}.`,
    hint: 'Correct the line it names, commit and deploy again.',
  },
  {
    seen: /target stage "?([^"\s]+)"? could not be found/,
    code: 'dockerfile_invalid',
    message: ([, stage]) => `Building: the Dockerfile has no stage ${stage}.`,
    hint: 'Correct the name of the stage in the Dockerfile.',
  },
  {
    seen: /(?:pull access denied for|manifest for|docker\.io\/library\/|registry-1\.docker\.io|load metadata for) ?([^\s:,]+(?::[\w.-]+)?)?.*(?:does not exist|not found|denied|unauthorized|manifest unknown|no such host|connection refused|i\/o timeout|lookup)/is,
    code: 'base_image_not_found',
    message: (_, error) => `Building: a base image can not be had: ${lastLine(error.message)}.`,
    hint: 'Check the names after FROM, and that the server reaches the registry and may read from it.',
  },
  {
    seen: /(?:failed to compute cache key|failed to calculate checksum|COPY failed|ADD failed)[^\n]*/i,
    code: 'copy_source_missing',
    message: ([what]) => `Building: a file to copy is not in the build context (${what}).`,
    hint: 'Check the path after COPY or ADD against the repository, the context directory and .dockerignore.',
  },
  {
    seen: /exec format error/i,
    code: 'wrong_architecture',
    message: () => 'Building: a program in the image is for another processor architecture.',
    hint: 'Use a base image that exists for this server.',
  },
  {
    seen: /(?:exit code|non-zero code): (\d+)/,
    code: 'build_command_failed',
    message: ([, exitCode], error) =>
      `Building: ${stepOf(error)} ended with exit code ${exitCode}.`,
    hint: 'The lines above in the log say why. Mend the command, commit and deploy again.',
  },
]

/** The same for creating and starting a container. */
const deployRules: Rule[] = [
  diskFull,
  {
    seen: /(?:Bind for )?([\d.:[\]a-f]*:\d+)[^\n]*(?:port is already allocated|address already in use)|port is already allocated|address already in use/i,
    code: 'port_in_use',
    message: ([, address]) =>
      `Starting: the port of the host${address ? ` (${address})` : ''} is in use by something else.`,
    hint: 'Stop what listens there, or give the environment another host port.',
  },
  {
    seen: /(?:exec: )?"?([^\s":]+)"?: (?:executable file not found|stat [^:]+: no such file)/i,
    code: 'command_not_found',
    message: ([, command]) => `Starting: the command ${command} is not in the image.`,
    hint: 'Check CMD and ENTRYPOINT in the Dockerfile.',
  },
  {
    seen: /permission denied/i,
    code: 'not_executable',
    message: () => 'Starting: the command of the image can not be executed.',
    hint: 'Give the file that CMD or ENTRYPOINT names the right to execute (chmod +x).',
  },
  {
    seen: /no command specified/i,
    code: 'no_command',
    message: () => 'Starting: the image has no command to run.',
    hint: 'Add a CMD or an ENTRYPOINT to the Dockerfile.',
  },
  {
    seen: /exec format error/i,
    code: 'wrong_architecture',
    message: () => 'Starting: the program in the image is for another processor architecture.',
    hint: 'Build for the architecture of this server, and check the first line of start scripts.',
  },
  {
    seen: /range of CPUs is from [\d.]+ to ([\d.]+)/i,
    code: 'too_many_cpus',
    message: ([, most]) =>
      `Starting: the server has ${Number(most)} processors, fewer than the environment asks for.`,
    hint: `Lower the processors of the environment.`,
  },
  {
    seen: /minimum memory limit|memory limit (?:too low|should be)/i,
    code: 'too_little_memory',
    message: () => 'Starting: the memory of the environment is less than a container needs.',
    hint: 'Raise the memory of the environment.',
  },
]

const names: Record<StepName, string> = {
  cloning: 'Cloning',
  building: 'Building',
  deploying: 'Starting',
}

/** Turns whatever a step threw into a code, a sentence and a next step. */
export function explain(error: unknown, step: StepName | null): Failure {
  if (error instanceof Failure) return error
  const name = step ? names[step] : 'Preparing'
  if (error instanceof AppError)
    return new Failure(
      'refused',
      `${name}: ${error.message}`,
      'Change what it names, then try again.',
    )
  if (!(error instanceof EngineError))
    return new Failure(
      'internal',
      `${name}: something went wrong inside Davit.`,
      'Its own log has the details. Trying again can help.',
    )
  for (const { seen, code, message, hint } of step === 'building' ? buildRules : deployRules) {
    const match = seen.exec(error.message)
    if (match) return new Failure(code, message(match, error), hint)
  }
  return new Failure(
    step === 'building' ? 'build_failed' : 'engine_refused',
    `${name}: the engine says: ${lastLine(error.message)}.`,
    'The lines above in the log may say more.',
  )
}

const stepOf = (error: Error) =>
  error instanceof BuildError && error.step ? `the step "${error.step}"` : 'a step'

const lastLine = (text: string) => text.trim().split('\n').at(-1)!.replace(/\.+$/, '')
