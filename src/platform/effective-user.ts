export type SystemUser = { name: string; uid: number; gid: number }

/** Missing in Bun's types. */
const system = process as typeof process & {
  initgroups: (user: string, group: number) => void
}

/** The user whose rights this process currently has instead of root's. */
let user: SystemUser | null = null

/**
 * Does a part of root's work with the rights of another user: a file that this user has replaced, such as by
 * a link, gives access to nothing more than they have. Without root or a user it changes nothing. It applies
 * to this whole process, so nothing else may run until it has ended.
 */
export function withRightsOf<T>(other: SystemUser | null, act: () => T): T {
  if (!other || process.geteuid!() !== 0) return act()
  enter(other)
  let isOver = true
  try {
    const result = act()
    if (!(result instanceof Promise)) return result
    isOver = false
    return result.finally(leave) as T
  } finally {
    if (isOver) leave()
  }
}

/** Within `withRightsOf`: acts as root again, for a file that the operator named. */
export function asCaller<T>(act: () => T): T {
  if (!user) return act()
  const other = user
  leave()
  try {
    return act()
  } finally {
    enter(other)
  }
}

function enter(other: SystemUser) {
  system.initgroups(other.name, other.gid)
  process.setegid!(other.gid)
  process.seteuid!(other.uid)
  user = other
}

function leave() {
  user = null
  process.seteuid!(0)
  process.setegid!(0)
  process.setgroups!([0])
}

/** For the rest of this process, which can't become root again. */
export function become({ name, uid, gid }: SystemUser) {
  system.initgroups(name, gid)
  process.setgid!(gid)
  process.setuid!(uid)
}
