import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import { ownFirst, userOf } from '../web/user-of.ts'
import { findOwnEnvironment, findOwnLiveEnvironment } from './store.ts'

export type OwnEnvironment = ReturnType<typeof findOwnEnvironment>

const keyOf = (c: Context) => ({ id: c.req.param('envId')!, ownerId: userOf(c).id })

const keyIn = (c: Context) => ({ ...keyOf(c), projectId: c.req.param('id')! })

/** The environment of `/envs/:envId…` and its project, only for its owner. */
export const ownEnvironment = ({ db }: { db: Db }, c: Context): OwnEnvironment =>
  findOwnEnvironment(db, keyOf(c))

/** For changes: throws when it is being deleted. */
export const liveEnvironment = ({ db }: { db: Db }, c: Context): OwnEnvironment =>
  findOwnLiveEnvironment(db, keyOf(c))

/** The same of `/projects/:id/envs/:envId…`. */
export const environmentIn = ({ db }: { db: Db }, c: Context): OwnEnvironment =>
  findOwnEnvironment(db, keyIn(c))

export const liveEnvironmentIn = ({ db }: { db: Db }, c: Context): OwnEnvironment =>
  findOwnLiveEnvironment(db, keyIn(c))

export const checkEnvironment = (deps: { db: Db }) => ownFirst((c) => ownEnvironment(deps, c))
