"use strict";

// Stands for the module of this name, which the tests of basic-ftp use for a container with
// ProFTPD. In its place they get a test server with the same user.

class Container {
    static fromDockerfile() { return new Container(); }
    async build() { return this; }
    withExposedPorts() { return this; }
    withWaitStrategy() { return this; }
    async start() {
        const { ftpServer } = await import("fetch1738-testserver");
        this.server = await ftpServer({ tls: "explicit", users: { ftpuser: { password: "ftppassword" } } });
        return this;
    }
    getMappedPort() { return this.server.port; }
    stop() { return this.server.close(); }
}

module.exports = { GenericContainer: Container, Wait: { forHealthCheck() {} } };
