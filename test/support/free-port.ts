/** Below the ports that Davit gives out, and those that the system takes for outgoing connections. */
const first = 10_000
const last = 19_999

/** Each process takes from ports of its own: others that run beside it choose at the same time. */
const share = 100
const shares = (last - first + 1) / share
const mine = first + (process.pid % shares) * share
let given = Math.floor(Math.random() * share)

/**
 * A port that nothing listens on. The system never takes it by itself, and no test beside this one does, so
 * that it is free for a while, however many connections other tests make.
 */
export function freePort(): number {
  const port = mine + (given++ % share)
  try {
    Bun.listen({ hostname: '0.0.0.0', port, socket: { data() {} } }).stop(true)
    return port
  } catch {
    return freePort()
  }
}
