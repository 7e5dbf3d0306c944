import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import { factory } from '../web/factory.ts'
import { userOf } from '../web/user-of.ts'
import { findOwnEnvironment, findOwnLiveEnvironment } from './store.ts'

export type OwnEnvironment = ReturnType<typeof findOwnEnvironment>

const keyOf = (c: Context) => ({ id: c.req.param('envId')!, ownerId: userOf(c).id })

/** The environment of `/envs/:envId…` and its project, only for its owner. */
export const ownEnvironment = ({ db }: { db: Db }, c: Context): OwnEnvironment =>
  findOwnEnvironment(db, keyOf(c))

/** For changes: throws when it is being deleted. */
export const liveEnvironment = ({ db }: { db: Db }, c: Context): OwnEnvironment =>
  findOwnLiveEnvironment(db, keyOf(c))

/** Runs before `input`, so that someone else's environment is missing, whatever was sent. */
export const checkEnvironment = (deps: { db: Db }) =>
  factory.createMiddleware(async function checkOwner(c, next) {
    ownEnvironment(deps, c)
    await next()
  })
