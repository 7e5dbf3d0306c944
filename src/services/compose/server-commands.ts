import { containerShell } from '../../docker/health-test.ts'

/** The command that changes a first-start value in the running server, or a text with what to do. */
export type FirstStart = { service: string; command: string[] } | { how: string }

/**
 * Commands that change, in a running server, values that it only reads at its first start. They run in a
 * shell of its container. Values are passed as OLD_VALUE and NEW_VALUE, so that no command line has them, and
 * each command may be repeated.
 */
export const serverCommands = {
  postgresql_password: psql('ALTER ROLE :"role" PASSWORD :\'value\';'),
  postgresql_database: psql(
    "SELECT format('CREATE DATABASE %I OWNER %I', :'value', :'role')",
    "WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'value') \\gexec",
  ),
  mysql_password: mysql("ALTER USER '$user'@'%' IDENTIFIED BY '$value';"),
  mysql_root_password: mysql(
    "ALTER USER IF EXISTS 'root'@'localhost' IDENTIFIED BY '$value', 'root'@'%' IDENTIFIED BY '$value';",
  ),
  mysql_database: mysql(
    'CREATE DATABASE IF NOT EXISTS \\`$NEW_VALUE\\`;',
    "GRANT ALL ON \\`$pattern\\`.* TO '$user'@'%';",
  ),
  mongodb_password: [
    ...['mongosh', '--quiet', '--nodb', '--eval'],
    `const { MONGO_INITDB_ROOT_USERNAME: user, OLD_VALUE, NEW_VALUE } = process.env
const open = (password) =>
  connect('mongodb://' + [user, password].map(encodeURIComponent).join(':') + '@127.0.0.1/admin')
let admin
try { admin = open(OLD_VALUE) } catch { admin = open(NEW_VALUE) }
admin.changeUserPassword(user, NEW_VALUE)`,
  ],
  rabbitmq_password: shell(
    'printf %s "$NEW_VALUE" | rabbitmqctl -q change_password "$RABBITMQ_DEFAULT_USER"',
  ),
}

function psql(...sql: string[]) {
  return shell(
    'psql -XqU "$POSTGRES_USER" -d postgres -v ON_ERROR_STOP=1 <<\'END\'',
    '\\set role `printf %s "$POSTGRES_USER"`',
    '\\set value `printf %s "$NEW_VALUE"`',
    ...sql,
    'END',
  )
}

/** Also for MariaDB. The same change may change root's password, before or after. */
function mysql(...sql: string[]) {
  return shell(
    'client=$(command -v mariadb || command -v mysql)',
    'user=${MARIADB_USER:-$MYSQL_USER}',
    String.raw`value=$(printf %s "$NEW_VALUE" | sed "s/['\\\\]/\\\\&/g")`,
    String.raw`pattern=$(printf %s "$NEW_VALUE" | sed 's/_/\\_/g')`,
    'for root in "${MARIADB_ROOT_PASSWORD:-$MYSQL_ROOT_PASSWORD}" "$OLD_VALUE"; do',
    'MYSQL_PWD="$root" "$client" -uroot <<END && exit',
    ...sql,
    'END',
    'done',
    'exit 1',
  )
}

function shell(...lines: string[]) {
  return [...containerShell, lines.join('\n')]
}
