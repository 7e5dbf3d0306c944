import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import { userOf } from '../web/user-of.ts'
import { factory } from '../web/factory.ts'
import { findProject } from './store.ts'
import type { Project } from './store.ts'

/** The key by which only its owner finds the project of `/projects/:id…`. */
export const ownKey = (c: Context) => ({ id: c.req.param('id')!, ownerId: userOf(c).id })

/** Stands before `input`, so that a project of someone else is missing whatever was sent to it. */
export const ownProject = ({ db }: { db: Db }) =>
  factory.createMiddleware(async function checkOwner(c, next) {
    findProject(db, ownKey(c))
    await next()
  })

/** A project as the audit log names it. */
export const aboutProject = ({ id, name }: Project) => ({
  object: { kind: 'project', id, name } as const,
})
