"""Stores on DynamoDB, SQS and S3."""
