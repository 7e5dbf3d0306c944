import { bytesOf, Connection } from '../load/http1.ts'

/** Milliseconds between two requests of a visitor. */
const pause = 20

/** Visitors of an app, some on connections that they keep; what they ask for once, they ask for once. */
export function visit(url: string, texts: string[]) {
  const { hostname: host, port } = new URL(url)
  let isOver = false
  const seen = { requests: 0, failures: [] as string[] }
  const all = Promise.all([true, true, false].map(visitAgain))

  return {
    /** Ends with the last response. */
    async stop() {
      isOver = true
      await all
      return seen
    },
  }

  async function visitAgain(isKept: boolean) {
    let connection: Connection | null = null
    for (; !isOver; await Bun.sleep(pause)) {
      seen.requests++
      try {
        if (!connection || connection.isOver)
          connection = await Connection.open({ address: '127.0.0.1', port: Number(port), host })
        await ask(connection, texts)
        if (isKept) continue
      } catch (error) {
        seen.failures.push((error as Error).message)
      }
      connection?.close()
      connection = null
    }
    connection?.close()
  }
}

async function ask(connection: Connection, texts: string[]) {
  connection.ask('GET', '/')
  const head = await connection.head()
  const page = (await bytesOf(connection.body(head))).toString()
  if (head.status !== 200) throw new Error(`a visitor got ${head.status}`)
  if (!texts.some((text) => page.includes(`<h1>${text}</h1>`)))
    throw new Error(`a visitor saw ${page}`)
}
