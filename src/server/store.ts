import type { Db } from '../db/index.ts'
import { projects, services } from '../db/schema.ts'

/** The names of all projects and services, by which an operator recognises an installation. */
export const namesOf = (db: Db) => ({
  projects: db.select({ name: projects.name }).from(projects).orderBy(projects.name).all(),
  services: db.select({ name: services.name }).from(services).orderBy(services.name).all(),
})
