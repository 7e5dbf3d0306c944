import { readFile, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Addresses and ports are hexadecimal, as the kernel writes them. */
export type TcpSocket = { local: string; remote: string; state: string; uid: number; inode: string }

/** The kernel's codes for the states of a socket. */
export const listens = '0A'
export const established = '01'

export async function tcpSockets(proc = '/proc'): Promise<TcpSocket[]> {
  const tables = [join(proc, 'net/tcp'), join(proc, 'net/tcp6')]
  const texts = await Promise.all(tables.map((path) => readFile(path, 'utf8').catch(() => '')))
  return texts.flatMap((text) =>
    text
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local, remote, state, , , , uid, , inode] = line.trim().split(/\s+/)
        if (!inode) return []
        return [{ local: local!, remote: remote!, state: state!, uid: Number(uid), inode }]
      }),
  )
}

/** As the kernel writes it. */
export const portInHex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')

export type Program = { name: string; pid: number }

/** A port in use; `by` is null when the program can't be seen. */
export type Listener = { port: number; by: Program | null }

/** Finds the programs that listen on these TCP ports of this machine, on any address. */
export async function listenersOn(ports: number[], proc = '/proc'): Promise<Listener[]> {
  const all = (await tcpSockets(proc)).filter(({ state }) => state === listens)
  const sockets = ports.flatMap((port) => {
    const end = `:${portInHex(port)}`
    return all.filter(({ local }) => local.endsWith(end)).map(({ inode }) => ({ port, inode }))
  })
  if (sockets.length === 0) return []
  const owners = forgetOthers(new Set(all.map(({ inode }) => inode)), proc)
  const unknown = sockets.filter(({ inode }) => !owners.has(inode))
  for (const { inode } of unknown) owners.set(inode, null)
  if (unknown.length > 0) await search(unknown, proc, (inode, by) => owners.set(inode, by))
  return [...Map.groupBy(sockets, ({ port }) => port)].map(([port, own]) => ({
    port,
    by: own.map(({ inode }) => owners.get(inode)).find(Boolean) ?? null,
  }))
}

/**
 * Kept because searching all processes is slow, and repeated while a program blocks a port. Only root can
 * search those of others: the result is still known after Davit became another user.
 */
let known: { proc: string; owners: Map<string, Program | null> } | null = null

/** The known owners of sockets that still listen. */
function forgetOthers(inodes: Set<string>, proc: string) {
  const before = known?.proc === proc ? [...known.owners] : []
  known = { proc, owners: new Map(before.filter(([inode]) => inodes.has(inode))) }
  return known.owners
}

async function search(
  sockets: { inode: string }[],
  proc: string,
  found: (inode: string, by: Program) => void,
) {
  const left = new Set(sockets.map(({ inode }) => inode))
  for (const pid of await readdir(proc)) {
    if (left.size === 0) return
    if (!/^\d+$/.test(pid)) continue
    const files = await readdir(join(proc, pid, 'fd')).catch(() => []) // it has ended, or is another user's
    for (const file of files) {
      const link = await readlink(join(proc, pid, 'fd', file)).catch(() => '')
      const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1]
      if (inode === undefined || !left.delete(inode)) continue
      const name = await readFile(join(proc, pid, 'comm'), 'utf8').catch(() => '')
      found(inode, { name: name.trim() || 'a program', pid: Number(pid) })
    }
  }
}
