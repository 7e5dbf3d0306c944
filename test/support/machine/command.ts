import { openSync } from 'node:fs'

/** A root that came by `su` has a PATH without the directories where dockerd and iptables are. */
const path = `${process.env.PATH}:/usr/sbin:/sbin`
const env = { ...process.env, PATH: path, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }

export const which = (program: string) => Bun.which(program, { PATH: path })

/** Runs a program of the machine to its end, its output (both streams) kept. */
export async function run(command: string[], options: { cwd?: string } = {}) {
  const child = Bun.spawn(command, {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env,
    ...options,
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { exitCode: await child.exited, output: stdout + stderr }
}

/**
 * Starts a program that stays when we go: in a session of its own and not as our child, which a
 * test runner that tidies up after a test file would end. What is answered watches it, no more.
 */
export function startDetached(command: string[], { log }: { log: string }) {
  const output = openSync(log, 'w')
  return Bun.spawn(['setsid', '--fork', '--wait', ...command], {
    stdin: 'ignore',
    stdout: output,
    stderr: output,
    env,
  })
}

export const lastLine = (text: string) => text.trim().split('\n').at(-1) || '(no output)'

export function requireRoot(doing: string) {
  if (process.getuid?.() !== 0) throw new Error(`This machine needs root for ${doing}.`)
}
