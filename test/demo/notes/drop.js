import { database } from './outside.js'

// The mistake that a backup is for: `bun drop.js`.

await database.query('DROP TABLE notes')
process.exit(0)
