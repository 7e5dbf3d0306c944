import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitFiles, makeRepository } from '../support/git-server.ts'

const folder = join(import.meta.dir, 'notes')

/** The texts of the notes app, by their paths in it. */
const files = Object.fromEntries(
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
)

/** A git repository with the notes app: a web process, a worker, a migration. */
export function makeNotes(repositories: string) {
  const name = 'notes.git'
  const path = makeRepository(repositories, name)
  commitFiles(path, files, { message: 'List notes' })
  return {
    name,
    /** By the names in its Procfile. */
    commands: new Map(
      Array.from(files.Procfile!.matchAll(/^(\w+): (.+)$/gm), ([, name, line]) => [name!, line!]),
    ),
    /** Commits a migration that gives each note an author. */
    addAuthors() {
      const migration = "ALTER TABLE notes ADD COLUMN author text NOT NULL DEFAULT 'demo'"
      commitFiles(path, { 'migrations/002_author.sql': migration }, { message: 'Add authors' })
    },
  }
}
