import { diskFull as noRoom, isDiskFull } from '../db/failures.ts'
import { BuildError, EngineError } from '../docker/index.ts'
import { roomHint } from '../platform/disk-space.ts'
import { AppError, Failure } from '../platform/errors.ts'
import type { Component } from './component.ts'

/** How hints name a workload's settings. */
const environment = {
  again: 'deploy again',
  command: 'CMD or ENTRYPOINT in the Dockerfile',
  user: 'the USER line of the Dockerfile',
  image: 'Build for this server, and check the first line of start scripts',
  port: 'the host port of the environment',
  memory: 'the memory of the environment',
  cpus: 'the processors of the environment',
  health:
    'Fix what the HEALTHCHECK reports, give the app longer with the health timeout of the environment, or remove the HEALTHCHECK from the Dockerfile.',
  refused: 'The lines above in the log may say more.',
}
const service: Words = {
  again: 'start the service again',
  command: 'command or entrypoint in its file',
  user: 'user in its file',
  image: 'Choose a version that is built for this server',
  port: 'the ports of the service',
  memory: 'mem_limit in its file',
  cpus: 'cpus in its file',
  health: 'Fix what it reports, or give it longer with healthcheck in its file.',
  refused: 'Change what Docker complains about, then start the service again.',
}
const release: Words = { ...environment, command: 'the release command' }
const run: Words = {
  ...environment,
  again: 'run the command again',
  command: 'the command',
}
export const words = { environment, service, release, run }
export type Subject = keyof typeof words
export type Words = typeof environment

/** Hints name the component's own settings where it has some. */
export function wordsFor(
  subject: 'environment' | 'service',
  { name, options }: Pick<Component, 'name' | 'options'>,
): Words {
  if (subject === 'service') return service
  const process = `the process ${name}`
  return {
    ...environment,
    ...(options.command && { command: `the command of ${process}` }),
    ...(name !== 'web' && {
      memory: `the memory of ${process}`,
      cpus: `the processors of ${process}`,
    }),
  }
}

/** Maps the engine's message to a sentence and a next step. The first match counts. */
export type Rule = {
  /** Searched in the engine's message. */
  seen: RegExp
  code: string
  /** Follows "Start failed: ". */
  message: (match: RegExpExecArray, error: Error) => string
  hint: string | ((of: Words) => string)
}

type Context = {
  subject: Subject
  /** Those of the subject by default. */
  said?: Words
  /** Such as "Start failed". */
  what: string
  rules?: Rule[]
  /** The code when no rule matches. */
  otherwise?: string
}

/** Maps an error thrown while starting a container to a code, a sentence and a next step. */
export function explain(
  error: unknown,
  {
    subject,
    said = words[subject],
    what,
    rules = startRules,
    otherwise = 'engine_refused',
  }: Context,
): Failure {
  const { again, refused } = said
  if (error instanceof Failure) return error
  if (isDiskFull(error)) return noRoom(error)
  if (error instanceof AppError)
    return new Failure(
      'refused',
      `${what}: ${error.message}`,
      `Change what it names, then ${again}.`,
    )
  if (!(error instanceof EngineError))
    return new Failure(
      'internal',
      `${what}: something went wrong inside Davit.`,
      'Davit’s log has the details. Trying again can help.',
    )
  const text = saidBy(error)
  if (/no space left on device|disk quota exceeded/i.test(text))
    return new Failure('disk_full', 'The disk of the server is full.', roomHint)
  for (const { seen, code, message, hint } of rules) {
    const match = seen.exec(text)
    if (!match) continue
    const next = typeof hint === 'string' ? hint : hint(said)
    return new Failure(code, `${what}: ${message(match, error)}`, next)
  }
  return new Failure(
    otherwise,
    `${what}: Docker says: ${lastLine(inShort(error.message))}.`,
    refused,
  )
}

/** For messages of the engine when it can't create or start a container. */
const startRules: Rule[] = [
  {
    seen: /^(?:Cannot restart container [^:\s]+: )?(?:failed to set up container networking: )?Address already in use$/,
    code: 'address_in_use',
    message: () => 'another container is using its address on the network.',
    hint: ({ again }) => `Disconnect the other container from the network, or ${again}.`,
  },
  {
    seen: /network \S+ not found/,
    code: 'network_removed',
    message: () => 'a network that it uses was removed meanwhile.',
    hint: ({ again }) => `Its service may have been deleted. To try without it, ${again}.`,
  },
  {
    seen: /port is already allocated|address already in use/i,
    code: 'port_in_use',
    message: ({ input, index }) => {
      const [address] = /[\d.:[\]a-f]{1,60}:\d{1,5}(?=[ :])/i.exec(lineBefore(input, index)) ?? []
      return `the host port${address ? ` (${address})` : ''} is already in use.`
    },
    hint: ({ port }) => `Stop what listens there, or change ${port}.`,
  },
  {
    seen: /(?:exec: )?"?(?<![^\s":])([^\s":]+)"?: (?:executable file not found|(?:stat [^:]+: )?no such file or directory)/i,
    code: 'command_not_found',
    message: ([, command]) => `the command ${command} isn’t in the image.`,
    hint: ({ command }) => `Check ${command}.`,
  },
  {
    seen: /unable to find (user|group) ([^\s:]+)/i,
    code: 'unknown_user',
    message: ([, kind, name]) => `the image has no ${kind} ${name}.`,
    hint: ({ user }) => `Fix ${user}, or add the user to the image.`,
  },
  {
    seen: /error setting rlimit/i,
    code: 'limit_too_high',
    message: () => 'Docker itself may not have as many open files or processes as it needs.',
    hint: 'Lower the ulimits, or raise the limits of Docker (LimitNOFILE).',
  },
  {
    seen: /permission denied/i,
    code: 'not_executable',
    message: () => 'the command of the image can’t be executed.',
    hint: ({ command }) => `Check ${command}: the file must be executable (chmod +x).`,
  },
  {
    seen: /no command specified/i,
    code: 'no_command',
    message: () => 'the image has no command to run.',
    hint: ({ command }) => `Set a command with ${command}.`,
  },
  {
    seen: /exec format error/i,
    code: 'wrong_architecture',
    message: () => 'the program in the image is for another processor architecture.',
    hint: ({ image }) => `${image}.`,
  },
  {
    seen: /range of CPUs is from [\d.]+ to ([\d.]+)/i,
    code: 'too_many_cpus',
    message: ([, most]) => `the server has ${Number(most)} processors, and it needs more.`,
    hint: ({ cpus }) => `Lower ${cpus}.`,
  },
  {
    seen: /minimum memory limit|memory limit (?:too low|should be)/i,
    code: 'too_little_memory',
    message: () => 'its memory limit is less than a container needs.',
    hint: ({ memory }) => `Raise ${memory}.`,
  },
]

const lineBefore = (text: string, index: number) =>
  text.slice(text.lastIndexOf('\n', index) + 1, index)

/** Appends the line of a command that says more than its exit code. */
const saidBy = (error: EngineError) =>
  inShort(
    error instanceof BuildError && error.clue ? `${error.message}\n${error.clue}` : error.message,
  )

/** The engine repeats its input, however long: only both ends are searched. */
const inShort = (text: string) =>
  text.length > 4000 ? `${text.slice(0, 1000)} … ${text.slice(-3000)}` : text

/** Removes the prefixes of the software layers that passed the message on. */
const lastLine = (text: string) =>
  text
    .trim()
    .split('\n')
    .at(-1)!
    .replace(/^(failed to [^:]+: )+/, '')
    .replace(/\.+$/, '')
