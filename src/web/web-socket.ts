import type { ServerWebSocket, WebSocketHandler } from 'bun'
import type { Context } from 'hono'
import { AppError } from '../platform/errors.ts'

export type Socket = ServerWebSocket<Peer>

/** The callbacks of the server's end of a socket. */
export type Peer = {
  open(socket: Socket): void
  message(data: string | Buffer): void
  /** Called when the send buffer has drained. */
  drain(): void
  close(): void
}

/** Idle sockets are pinged, well before a proxy closes them. */
export const webSockets: WebSocketHandler<Peer> = {
  idleTimeout: 30,
  sendPings: true,
  maxPayloadLength: 64 * 1024,
  open: (socket) => socket.data.open(socket),
  message: ({ data }, message) => data.message(message),
  drain: ({ data }) => data.drain(),
  close: ({ data }) => data.close(),
}

/** From then on the peer's callbacks run. Throws for an incomplete handshake. */
export function acceptWebSocket(c: Context, peer: Peer) {
  if (!c.env?.server?.upgrade(c.req.raw, { data: peer }))
    throw new AppError('bad_request', 'This WebSocket handshake is incomplete.')
  return new Response(null) // the server has responded
}
