"use strict";

const { why } = require("./skip");

/** A reporter for mocha: prints "ok NAME", "FAIL NAME" or "skip NAME: why" for each test. */
module.exports = class Report {
    constructor(runner) {
        runner.on("pass", test => console.log("ok", test.fullTitle()));
        runner.on("pending", test => why(test) && console.log(`skip ${test.fullTitle()}: ${why(test)}`)); // others have no code
        runner.on("fail", (test, error) => console.log(`FAIL ${test.fullTitle()}\n${error.stack}`));
    }
};
