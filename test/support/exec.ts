import { askEngine } from './machine/engine.ts'

/** Runs a program in a container, as `docker exec` does; both streams are in the output. */
export async function execIn(
  container: string,
  command: string[],
  { env = {} }: { env?: Record<string, string> } = {},
) {
  const { Id } = await ask<{ Id: string }>(`/containers/${container}/exec`, {
    ...{ AttachStdout: true, AttachStderr: true, Cmd: command },
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
  })
  const answer = await send(`/exec/${Id}/start`, { Detach: false })
  const output = textOf(Buffer.from(await answer.arrayBuffer())).trim()
  const inspected = await askEngine(`/exec/${Id}/json`)
  const { ExitCode } = (await inspected.json()) as { ExitCode: number }
  return { exitCode: ExitCode, output }
}

/** The frames of both streams, in the order they came; a header has the length at its end. */
function textOf(bytes: Buffer) {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 8 + bytes.readUInt32BE(at + 4)
    pieces.push(bytes.subarray(at + 8, end))
    at = end
  }
  return Buffer.concat(pieces).toString()
}

const ask = async <T>(path: string, body: object) => (await (await send(path, body)).json()) as T

async function send(path: string, body: object) {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await askEngine(path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`The engine refuses ${path}: ${await answer.text()}`)
  return answer
}
