import { posix } from 'node:path'
import type { Container, Docker } from '../docker/index.ts'
import { fileAt } from './file-in-container.ts'
import type { Words } from './explain.ts'

/** Explains an exit code. `what` follows "Start failed: the app exited with code 127: ". */
export type ExitExplanation = { code: string; what: string; hint: (of: Words) => string }

type Find = (name: string) => ReturnType<typeof fileAt>

/** The ways in which an init, a shell or the engine names what it couldn't execute. */
const refused =
  /^exec (?<run>\S+): |exec (?<failed>\S+) failed: |(?<named>[^\s:'"‘’]+)['"’]?: (?:command not found|not found|[Nn]o such file|[Pp]ermission denied|[Ee]xec format error|[Cc]annot execute\b|[^:]{1,80}: bad interpreter)/

/**
 * Explains from a container's files why one of its programs was never executed: the system reports a script
 * whose interpreter is missing as a missing script. Returns null when they don't show it.
 */
export async function whyNotExecuted(
  docker: Docker,
  container: Container,
  { exitCode, lines }: { exitCode: number; lines: string[] },
): Promise<ExitExplanation | null> {
  const path = container.env.find((entry) => entry.startsWith('PATH='))?.slice(5) ?? usualPath
  const find: Find = async (name) => {
    const folders = name.includes('/') ? [''] : path.split(':').slice(0, 20)
    for (const folder of folders) {
      const place = posix.resolve(container.workingDir ?? '/', folder, name)
      const file = await fileAt(docker, container.id, place)
      if (file) return file
    }
    return null
  }
  const found = lines.map((line) => refused.exec(line.slice(0, 500))?.groups).findLast(Boolean)
  const isRefused = exitCode === 126 || exitCode === 127 || found?.run !== undefined
  const [first = '', second = '', line = ''] = container.command
  const named = found?.run ?? found?.failed ?? found?.named
  const user = /^(0|root)(:|$)/.test(container.user ?? 'root') ? null : container.user
  const by = { find, user }
  const inShell = second === '-c' ? /^\s*(?:exec\s+)?([^\s;&|]+)/.exec(line)?.[1] : undefined
  return (
    (isShell.test(first) && !second.startsWith('-') ? await judgeText(second, find) : null) ??
    (await judge(docker, { ...by, name: first, isRefused })) ??
    (inShell ? await judge(docker, { ...by, name: inShell, isRefused: false }) : null) ??
    (isRefused && named ? judge(docker, { ...by, name: named, isRefused }) : null)
  )
}

const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const isShell = /^(\/(usr\/)?bin\/)?(a|ba|da|k|z)?sh$/

type Judged = {
  name: string
  /** True when something certainly couldn't be executed. */
  isRefused: boolean
  find: Find
  /** Null for root. */
  user: string | null
}

async function judge(
  docker: Docker,
  { name, isRefused, find, user }: Judged,
): Promise<ExitExplanation | null> {
  const file = await find(name)
  if (!file) return isRefused ? missing(name) : null
  const { head, mode, isDirectory } = file
  const isScript = head.toString('latin1', 0, 2) === '#!'
  const isBinary = head.toString('latin1', 0, 4) === '\x7fELF'
  const why = isScript
    ? await judgeScript(name, { head, mode, find })
    : isBinary && (await judgeBinary(docker, { name, head, find }))
  if (why) return why
  if (!isRefused) return null
  if (isDirectory) return notExecutable(name, 'is a folder')
  if ((mode & 0o111) === 0) return notExecutable(name, 'may not be executed')
  if (user && (mode & 0o001) === 0) return notExecutable(name, `may not be executed by ${user}`)
  if (isScript || isBinary) return null
  return notExecutable(name, 'doesn’t begin with a line such as #!/bin/sh')
}

async function judgeScript(
  name: string,
  { head, mode, find }: { head: Buffer; mode: number; find: Find },
): Promise<ExitExplanation | null> {
  if ((mode & 0o111) === 0) return notExecutable(name, 'may not be executed')
  const [line = ''] = head.toString('utf8', 2, 500).split('\n')
  if (line.endsWith('\r')) return windowsLineEnds(name)
  const [interpreter = '', ...words] = line.trim().split(/\s+/)
  const isEnv = posix.basename(interpreter) === 'env'
  const program = isEnv && words.find((word) => !/^-|=/.test(word))
  for (const needed of [interpreter, program || interpreter]) {
    const file = await find(needed)
    if (file && !file.isDirectory && (file.mode & 0o111) !== 0) continue
    const hint = () => `Install ${needed} in the Dockerfile, or change the first line of ${name}.`
    const needs = `${name} needs ${needed} by its first line`
    if (file) return { code: 'not_executable', what: `${needs}, which may not be executed`, hint }
    const what = `${needs}, and the image doesn’t have that`
    return { code: 'interpreter_missing', what, hint }
  }
  return null
}

/** Judges a script given to a shell, which takes a carriage return at the end of a line as part of it. */
async function judgeText(name: string, find: Find) {
  if (name === '') return null
  const file = (await find(name.startsWith('/') ? name : `./${name}`)) ?? (await find(name))
  if (!file) return missing(name)
  return file.head.includes('\r\n') ? windowsLineEnds(name) : null
}

async function judgeBinary(
  docker: Docker,
  { name, head, find }: { name: string; head: Buffer; find: Find },
): Promise<ExitExplanation | null> {
  if (head.length < 64 || head[5] !== 1) return null
  const server = (await docker.frontend({ builder: 'auto' })).platform.split('/')[1]!
  const built = architectures[head.readUInt16LE(18)]
  if (built && built !== server && built !== alsoRuns[server])
    return {
      code: 'wrong_architecture',
      what: `${name} is built for ${built}, and this server has ${server}`,
      hint: ({ image }) => `${image}.`,
    }
  const loader = loaderOf(head)
  if (!loader || (await find(loader))) return null
  return {
    code: 'loader_missing',
    what: `${name} needs the loader ${loader}, and the image doesn’t have that`,
    hint: () =>
      `It was built with another C library (glibc or musl): build ${name} on the base image of the last stage, or link it statically.`,
  }
}

/** By their machine numbers in the ELF header. */
const architectures: Record<number, string> = {
  ...{ 3: '386', 21: 'ppc64le', 22: 's390x', 40: 'arm', 62: 'amd64', 183: 'arm64', 243: 'riscv64' },
}
const alsoRuns: Record<string, string> = { amd64: '386', arm64: 'arm' }

/** The program interpreter named in the ELF header; null for a static program. */
function loaderOf(head: Buffer): string | null {
  const is64 = head[4] === 2
  const at = is64 ? Number(head.readBigUInt64LE(32)) : head.readUInt32LE(28)
  const [size, count] = [head.readUInt16LE(is64 ? 54 : 42), head.readUInt16LE(is64 ? 56 : 44)]
  for (let n = 0; n < count; n++) {
    const entry = head.subarray(at + n * size, at + (n + 1) * size)
    if (entry.length < 40 && (is64 || entry.length < 32)) return null
    if (entry.readUInt32LE(0) !== interpreterEntry) continue
    const from = is64 ? Number(entry.readBigUInt64LE(8)) : entry.readUInt32LE(4)
    return head.toString('latin1', from, from + 256).split('\0', 1)[0] || null
  }
  return null
}

const interpreterEntry = 3

const missing = (name: string): ExitExplanation => ({
  code: 'command_not_found',
  what: `${name} isn’t in the image`,
  hint: ({ command }) => `Check ${command}.`,
})

const notExecutable = (name: string, what: string): ExitExplanation => ({
  code: 'not_executable',
  what: `${name} ${what}`,
  hint: ({ command }) =>
    `Check ${command}: it must be a program, or a script that is executable (chmod +x) and begins with #!.`,
})

const windowsLineEnds = (name: string): ExitExplanation => ({
  code: 'windows_line_endings',
  what: `${name} has Windows line endings (CRLF)`,
  hint: () =>
    `Save ${name} with LF, and add “*.sh text eol=lf” to .gitattributes so that git keeps it so.`,
})
