import type { ServerWebSocket, WebSocketHandler } from 'bun'
import type { Context } from 'hono'
import { AppError } from '../platform/errors.ts'
import type { Env } from './factory.ts'

export type Socket = ServerWebSocket<Peer>

/** The server's end of a socket: what it hears. */
export type Peer = {
  open(socket: Socket): void
  message(data: string | Buffer): void
  /** What had to wait has left. */
  drain(): void
  close(): void
}

/** How the server keeps sockets: quiet ones are pinged, well before a proxy takes them for dead. */
export const webSockets: WebSocketHandler<Peer> = {
  idleTimeout: 30,
  sendPings: true,
  maxPayloadLength: 64 * 1024,
  open: (socket) => socket.data.open(socket),
  message: ({ data }, message) => data.message(message),
  drain: ({ data }) => data.drain(),
  close: ({ data }) => data.close(),
}

/** Accepts a handshake; from then on the peer hears what comes. */
export function acceptWebSocket(c: Context<Env>, peer: Peer) {
  if (!c.env?.server?.upgrade(c.req.raw, { data: peer }))
    throw new AppError('bad_request', 'This handshake of a WebSocket is not complete.')
  return new Response(null) // the server has answered
}
