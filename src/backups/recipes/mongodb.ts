import type { Engine } from './engine.ts'

/** The password comes from a file, since the tools take it from no variable; JSON is YAML. */
const tools = `
cd "$(mktemp -d)" || exit
(umask 077; printf %s "$DAVIT_CONFIG" > config.yaml)
set -- --host=127.0.0.1 --port=27017 --config=config.yaml
[ -z "$DAVIT_USER" ] || set -- "$@" --username="$DAVIT_USER" --authenticationDatabase=admin`

const mongosh = (script: string) => `
mongosh --quiet --nodb --eval "$(cat <<'END'
const { DAVIT_USER: user, DAVIT_CONFIG: config, DAVIT_DATABASE: database } = process.env
const login = user ? [user, JSON.parse(config).password].map(encodeURIComponent).join(':') + '@' : ''
const say = (value) => print(JSON.stringify(value))
const admin = connect('mongodb://' + login + '127.0.0.1:27017/admin')
const db = database ? admin.getSiblingDB(database) : admin
${script}
END
)" < /dev/null`

const server = mongosh(`
say({ version: admin.version() })
for (const { name } of admin.adminCommand({ listDatabases: 1, nameOnly: true }).databases)
  if (!['admin', 'config', 'local'].includes(name)) say({ database: name })
for (const { _id } of admin.adminCommand({ usersInfo: { forAllDBs: true } }).users) say({ role: _id })`)

const count = mongosh(`
for (const { name, type } of db.getCollectionInfos())
  if (type === 'collection' && !name.startsWith('system.'))
    say([database + '.' + name, db.getCollection(name).countDocuments({})])`)

/** How many documents of each collection are in it is known when it is written: the tool's log says so. */
const dump = `${tools}
echo; echo
mongodump "$@" --db="$DAVIT_DATABASE" --archive 2> log || { tail -n 20 log >&2; exit 1; }
sed -n 's/\\\\/\\\\\\\\/g; s/"/\\\\"/g; s/\`//g; / [^.]*\\.system\\./d
s/^.*done dumping \\(.*\\) (\\([0-9]*\\) documents*)$/["\\1",\\2]/p' log >&2`

const load = `${tools}
${mongosh('db.dropDatabase()')} || exit
exec mongorestore "$@" --quiet --stopOnError --nsInclude="$DAVIT_DATABASE.*" --archive`

export const mongodb: Engine = {
  server,
  roles: {
    dump: `${tools}
mongodump "$@" --quiet --db=admin --archive`,
    // without --drop, users that exist stay as they are
    load: `${tools}
exec mongorestore "$@" --quiet --nsInclude='admin.*' --archive`,
    ending: 'archive',
  },
  database: { dump, count, load, erases: true },
  ending: 'archive',
  toDatabase: (lines) => ({
    tables: (lines as [string, number][]).map(([name, rows]) => ({ name, rows })),
  }),
}
