import { join } from 'node:path'
import { processorTime } from './process.ts'

/** Starts a program of this folder that serves so many lines per second, and prints where. */
export async function startSseFloor(program: string, rate: number) {
  const command = [process.execPath, join(import.meta.dir, program), String(rate)]
  const child = Bun.spawn(command, { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  return {
    url: new TextDecoder().decode(value).trim(),
    pid: child.pid,
    async stop() {
      child.kill()
      await child.exited
    },
  }
}

/**
 * Runs clients, a program of this folder that prints a line when all are connected, and at its end what
 * they saw as JSON. With it come the seconds of processor time that the server took between the two.
 */
export async function runSseClients<Seen>(
  pid: number,
  program: string,
  options: string[],
): Promise<Seen & { used: number }> {
  const command = [process.execPath, join(import.meta.dir, program), ...options]
  const clients = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  let before = 0
  let text = ''
  for await (const chunk of clients.stdout.pipeThrough(new TextDecoderStream())) {
    if (text === '') before = processorTime(pid)
    text += chunk
  }
  const used = processorTime(pid) - before
  return { ...JSON.parse(text.split('\n')[1]!), used }
}
