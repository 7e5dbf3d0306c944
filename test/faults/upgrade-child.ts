import { openDatabase, openLogDatabase } from '../../src/db/index.ts'

// Upgrades a database as Davit's start does: it is there to be killed.
const [kind, path, migrations] = process.argv.slice(2) as [string, string, string]
process.stdout.write('opening\n')
const open = kind === 'logs' ? openLogDatabase : openDatabase
open(path, migrations).$client.close()
