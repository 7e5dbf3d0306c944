import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { EdgeScene } from './edge-scene.ts'

/** Begins an attack from another address of this machine, and resolves when all of it was sent. */
type EdgeCase = { what: string; begin: (scene: EdgeScene) => Promise<() => void> }

const from = '127.0.0.2'

/** What strangers sent to have Caddy ended, or all apps wait. */
export const edgeCases: EdgeCase[] = [
  {
    what: '60 connections that guess the password of one address',
    begin: async ({ place, protectedHost }) => {
      let guesses = 0
      return hold(60, place.http, () => {
        const login = btoa(`ada:guess ${guesses++}`)
        return { head: [`Host: ${protectedHost}`, `Authorization: Basic ${login}`], isAgain: true }
      })
    },
  },
  {
    what: '60 connections that guess, and leave before the answer',
    begin: async ({ place, protectedHost }) => {
      let guesses = 0
      const guess = () => ({
        head: [`Host: ${protectedHost}`, `Authorization: Basic ${btoa(`ada:gone ${guesses++}`)}`],
      })
      let isOver = false
      const leaveEarly = async () => {
        while (!isOver) {
          const leave = await hold(1, place.http, guess)
          await Bun.sleep(40)
          leave()
        }
      }
      for (let n = 0; n < 60; n++) void leaveEarly()
      return () => void (isOver = true)
    },
  },
  {
    what: '700 connections with headers of 1 MB',
    begin: ({ place }) =>
      hold(700, place.http, () => ({
        head: [`Host: ${place.plainHost}`, 'Content-Length: 10', `X: ${'x'.repeat(1_000_000)}`],
        body: 'a',
      })),
  },
  {
    what: '3,000 bodies with headers of 60 KB that never end',
    begin: ({ place }) =>
      hold(3000, place.http, () => ({
        head: [
          `Host: ${place.plainHost}`,
          'Transfer-Encoding: chunked',
          `X: ${'x'.repeat(60_000)}`,
        ],
        body: '1\r\na',
      })),
  },
  {
    what: '10,000 bodies that never end, in 40 connections of HTTP/2',
    async begin({ place }) {
      const sessions = await Promise.all(
        Array.from({ length: 40 }, async () => {
          const session = connectHttp2(`https://127.0.0.1:${place.https}`, {
            ...{ servername: place.secureHost, rejectUnauthorized: false, localAddress: from },
          })
          session.on('error', () => {})
          await new Promise((resolve) => session.once('connect', resolve).once('error', resolve))
          for (let n = 0; n < 250; n++) {
            const stream = session.request({ ':method': 'POST', ':authority': place.secureHost })
            stream.on('error', () => {}).resume()
            stream.write('a')
          }
          return session
        }),
      )
      return () => sessions.forEach((session) => session.destroy())
    },
  },
]

type Sent = { head: string[]; body?: string; isAgain?: boolean }

/** Opens connections that send this, again after each response if it says so. */
async function hold(count: number, port: number, next: () => Sent) {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from } as never)
    const send = () => {
      const { head, body = '', isAgain } = next()
      socket.write([`${body ? 'POST' : 'GET'} / HTTP/1.1`, ...head, '', body].join('\r\n'))
      socket.once('data', () => isAgain && send())
    }
    send()
    return socket.on('error', () => {})
  })
  return () => sockets.forEach((socket) => socket.destroy())
}
