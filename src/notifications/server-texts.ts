import type { News } from './texts.ts'

/** The name of a server. */
type Subject = { subject: string }

export const serverDown = ({ subject }: Subject): News => ({
  ...{ kind: 'server_away', level: 'failure' },
  title: `The server ${subject} is down`,
  text: 'Neither Davit nor Docker’s swarm on Davit’s server can reach it. Apps without volumes start on other servers where their placement allows it; what has volumes there waits for it. If it runs without a network, its workers run twice until it is back.',
  todo: 'Check its power and its network. If it never comes back, remove it under Settings, Servers.',
})

export const serverUnreached = ({ subject }: Subject): News => ({
  ...{ kind: 'server_away', level: 'warning' },
  title: `Davit can’t reach the server ${subject}`,
  text: 'Docker’s swarm still reaches it, so what is there is taken to run on. Nothing is moved, and what Davit shows of it is old.',
  todo: 'Check its sshd, and that the key of Davit’s user is still accepted.',
})

export const serverBack = ({ subject, isRemoved }: Subject & { isRemoved: boolean }): News => ({
  ...{ kind: 'server_away', level: 'resolved', todo: null },
  title: `The server ${subject} ${isRemoved ? 'was removed' : 'is back'}`,
  text: isRemoved
    ? 'Nothing waits for it any more.'
    : 'Containers that were replaced meanwhile are removed from it.',
})
