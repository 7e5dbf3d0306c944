import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 7

const line = '2026-11-20T23:59:59 INFO request served path=/api/items status=200 dur=12ms'

/** What ends the output; a terminal shows what is typed too, and that is without it. */
const end = 'all-is-out'

/** Scripts in the container: 1,000 lines a second for five seconds, and as fast as the terminal takes them. */
const scripts = {
  steady: `i=0; while [ $i -lt 50 ]; do i=$((i+1)); yes '${line}' | head -n 100; usleep 97000; done; echo ${end}`,
  flood: `yes '${line}' | head -n 200000; echo ${end}`,
}

/** A terminal in the browser's place, which tells what it has drawn as the page does, against the engine's client. */
export async function benchTerminal(directory: string, executable: string): Promise<Row[]> {
  const fresh = join(directory, 'terminal')
  mkdirSync(fresh)
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const writeScripts = Object.entries(scripts).map(
    ([name, text]) => `cat > /${name} <<'EOT'\n${text}\nEOT`,
  )
  const id = await docker.createContainer({
    name: `bench-${Bun.randomUUIDv7().slice(-12)}`,
    image: 'busybox:latest',
    command: ['sh', '-c', [...writeScripts, 'exec sleep 9999'].join('\n')],
    network: 'none',
    memoryBytes: 64 * 2 ** 20,
    cpus: 1,
    pidsLimit: 64,
  })
  const env = { DAVIT_DATA_DIR: join(fresh, 'data'), DAVIT_TERMINAL: 'all' }
  const davit = await startDavit({ directory: fresh, command: [executable], env })
  try {
    await docker.startContainer(id)
    const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(30_000) })
    const account = { email: 'bench@example.com', password: Bun.randomUUIDv7() }
    await client.enter('/auth/register', account)
    const cookie = `svc_session=${client.cookie('svc_session')}`
    const url = `${davit.url.replace('http', 'ws')}/containers/${id}/terminal`
    const rowOf = async (script: keyof typeof scripts, what: string, aim: string) => ({
      what,
      against: 'docker exec -t',
      unit: 'bytes/s',
      aim,
      ...(await inPairs(pairs, {
        davit: () => throughDavit(url, cookie, `sh /${script}`),
        floor: () => throughClient(id, ['sh', `/${script}`]),
      })),
    })
    return [
      await rowOf('steady', 'a terminal in which 1,000 lines/s are written', '≥ 0.95'),
      await rowOf('flood', 'a terminal in which lines are written without pause', '≥ 0.50'),
    ]
  } finally {
    await davit.stop()
    await docker.removeContainer(id, { force: true })
  }
}

/** Counts bytes from the first to the last, with the end of what was seen to know the last by. */
function meter() {
  let [from, bytes, tail] = [0, 0, '']
  return {
    take(chunk: Uint8Array) {
      from ||= performance.now()
      bytes += chunk.length
      tail = (tail + Buffer.from(chunk.subarray(-40)).toString()).slice(-80)
      return tail.includes(`${end}\r\n`)
    },
    perSecond: () => (bytes * 1000) / (performance.now() - from),
  }
}

async function throughClient(id: string, command: string[]) {
  const child = Bun.spawn(['docker', 'exec', '--tty', id, ...command], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const seen = meter()
  for await (const chunk of child.stdout) if (seen.take(chunk)) break
  const result = seen.perSecond()
  await child.exited
  return result
}

/** Bytes after which the page says how much it has drawn. */
const drawnStep = 32 * 1024

async function throughDavit(url: string, cookie: string, command: string) {
  const socket = new WebSocket(url, { headers: { Cookie: cookie } } as never)
  socket.binaryType = 'arraybuffer'
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let seen: ReturnType<typeof meter> | null = null
  let [drawn, told] = [0, 0]
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === 'string') return
    const chunk = new Uint8Array(data)
    drawn += chunk.length
    if (drawn - told >= drawnStep) {
      told = drawn
      socket.send(JSON.stringify({ drawn }))
    }
    if (seen?.take(chunk)) resolve(seen.perSecond())
    if (seen || !Buffer.from(chunk).includes('# ')) return
    seen = meter() // the prompt is there
    socket.send(Buffer.from(`${command}\n`))
  }
  socket.onopen = () => socket.send(JSON.stringify({ drawn: 0 }))
  socket.onclose = ({ code, reason }) => reject(new Error(`Closed: ${code} ${reason}`))
  try {
    return await promise
  } finally {
    socket.close()
  }
}
